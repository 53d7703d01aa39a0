"""A project's configuration for Lake and elan: toolchain, libraries, dependencies."""

import json
import os
import re
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.files import raid_dir
from lean_dojo_v2.lean import Token, code_tokens, parse_header

TOOLCHAIN_FILE = "lean-toolchain"
LAKEFILES = ("lakefile.lean", "lakefile.toml")
"""Lakefiles; like Lake, the first is used if a folder has both."""
MANIFEST = "lake-manifest.json"
_PACKAGES_DIR = PurePosixPath(".lake/packages")
NOT_SOURCES = frozenset({".lake", ".git", "lake-packages", "build"})
"""Folders of a project with built or fetched files."""


def module_path(module: str) -> PurePosixPath:
    """Return a module's file, relative to its source folder.

    >>> str(module_path("Sample.Logic"))
    'Sample/Logic.lean'
    """
    return PurePosixPath(module.replace(".", "/") + ".lean")


def module_name(path: PurePosixPath) -> str:
    """Return the module of a file, given relative to its source folder."""
    return ".".join(path.with_suffix("").parts)


@attrs.frozen
class Library:
    """A library or executable: its root modules, and those below them, in ``src_dir``."""

    name: str
    src_dir: PurePosixPath
    roots: tuple[str, ...]


@attrs.frozen
class Dependency:
    """A package of ``lake-manifest.json``; its name is its folder below ``.lake/packages``.

    A path dependency has no commit; its ``url`` and ``path`` are its folder, relative to the
    project.
    """

    name: str
    url: str
    commit: str = ""
    path: str | None = None


@attrs.frozen
class LakeProject:
    """A Lean project on disk, with all paths relative to its folder ``root``.

    The ``toolchain`` is the text of ``lean-toolchain``, for example ``leanprover/lean4:v4.28.0``;
    ``libraries`` include executables, ``dependencies`` packages that it requires by a path. If
    ``only`` is set, that file alone is traced; its imports come from the others.
    """

    root: Path
    toolchain: str
    libraries: tuple[Library, ...]
    dependencies: tuple[Dependency, ...] = ()
    packages_dir: PurePosixPath = _PACKAGES_DIR
    only: PurePosixPath | None = None

    @property
    def lean_version(self) -> str:
        """The version part of the toolchain, for example ``v4.28.0``; empty if unknown."""
        return self.toolchain.rsplit(":", 1)[-1]

    def place_of(self, dependency: Dependency) -> PurePosixPath:
        """Return the folder of a dependency, relative to the project."""
        if dependency.path is not None:
            return PurePosixPath(dependency.path)
        return self.packages_dir / dependency.name

    def inner_packages(self) -> list[Path]:
        """Return the folders inside the project that it requires by a path."""
        places = (self.root / d.path for d in self.dependencies if d.path is not None)
        home = self.root.resolve()
        inside = (place for place in places if place.is_dir() and home in place.resolve().parents)
        return list(dict.fromkeys(inside))

    def sources(self) -> dict[str, PurePosixPath]:
        """Return every source file of the libraries, in their order: module → path in the project.

        A file may be a module of two targets; its path is the same, even if a link leads to it.
        """
        found: dict[str, PurePosixPath] = {}
        known: dict[Path, PurePosixPath] = {}
        for library in self.libraries:
            for module, written in self._files(library):
                path = known.setdefault((self.root / written).resolve(), written)
                if found.setdefault(module, path) != path:
                    raise TraceError(f"{self.root}: {found[module]} and {path} are both {module}")
        return found

    def outside(self) -> list[PurePosixPath]:
        """Return the Lean files of the folder that are in none of the libraries, sorted."""
        inside = {(self.root / path).resolve() for path in self.sources().values()}
        packages = {place.resolve() for place in self.inner_packages()}
        return sorted(
            PurePosixPath(file.relative_to(self.root).as_posix())
            for file in walk(self.root, packages)
            if file.suffix == ".lean"
            and file.name not in LAKEFILES
            and file.resolve() not in inside
        )

    def _files(self, library: Library) -> Iterator[tuple[str, PurePosixPath]]:
        """Yield modules and files of a target, each path as short as it can be written."""
        base = Path(os.path.normpath(self.root / library.src_dir))
        for root in library.roots:
            file = base / module_path(root)
            candidates = [file, *sorted(file.with_suffix("").rglob("*.lean"))]
            for candidate in candidates:
                inner = candidate.relative_to(base).parts
                if candidate.is_file() and not NOT_SOURCES & set(inner[:-1]):
                    path = PurePosixPath(Path(os.path.relpath(candidate, self.root)).as_posix())
                    yield module_name(PurePosixPath(*inner)), path


def find_lakefile(folder: Path) -> Path | None:
    """Find the lakefile of a package, if it has one."""
    return next((folder / name for name in LAKEFILES if (folder / name).is_file()), None)


def read_project(root: Path) -> LakeProject:
    """Read a project's lakefile, toolchain and manifest."""
    toolchain = root / TOOLCHAIN_FILE
    lakefile = find_lakefile(root)
    if lakefile is None and not toolchain.is_file():
        raise TraceError(
            f"{root} is not a Lean project: it has neither a lakefile.toml, a lakefile.lean "
            "nor a lean-toolchain; name the folder that has them"
        )
    locked, packages = _manifest(root / MANIFEST)
    try:
        libraries = tuple(_libraries(read_lakefile(root)))
        near = _near(root, {dependency.name for dependency in locked})
    except (TypeError, AttributeError, KeyError) as error:
        raise TraceError(f"{lakefile}: cannot be read: {error}") from None
    return LakeProject(
        root,
        toolchain.read_text("utf-8", errors="replace").strip() if toolchain.is_file() else "",
        libraries or _everything(root),
        (*locked, *near),
        packages,
    )


def read_lakefile(folder: Path) -> dict[str, Any]:
    """Return the configuration of a package as ``lakefile.toml`` has it; empty without one."""
    lakefile = find_lakefile(folder)
    if lakefile is None:
        return {}
    text = lakefile.read_text(encoding="utf-8", errors="replace")
    try:
        found = _lean_configuration(text) if lakefile.suffix == ".lean" else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TraceError(f"{lakefile}: cannot be read: {error}") from None
    if not found:
        raise TraceError(
            f"{lakefile}: declares nothing, not even a package; restore its content, or delete it "
            "to trace single files of the folder"
        )
    return found


def _near(root: Path, locked: set[str]) -> list[Dependency]:
    """Return the unlocked packages that a project requires by a path, directly or not."""
    known: dict[str, str] = {}
    pending = ["."]
    while pending:
        folder = pending.pop()
        for name, path in _required(root / folder):
            if path and name not in locked and name not in known:
                known[name] = os.path.normpath(Path(folder) / path)
                pending.append(known[name])
    return [Dependency(name, place, path=place) for name, place in known.items()]


def _required(folder: Path) -> list[tuple[str, str]]:
    """Return the name and path of each package that a lakefile requires."""
    try:
        required = read_lakefile(folder).get("require", ())
        return [(str(entry["name"]), _path(entry)) for entry in required]
    except (TypeError, AttributeError, KeyError) as error:
        raise TraceError(f"{find_lakefile(folder)}: cannot be read: {error}") from None


def _path(entry: Mapping[str, Any]) -> str:
    source = entry.get("source")
    if isinstance(source, Mapping) and source.get("type") == "path":
        return str(source.get("dir", ""))
    return str(entry.get("path", ""))


def may_have_sources(folder: Path) -> bool:
    """Whether a folder may have sources: not if it is hidden, built, installed or our own."""
    return (
        not folder.name.startswith(".")
        and folder.name not in NOT_SOURCES
        and not (folder / "pyvenv.cfg").is_file()
        and folder.resolve() != raid_dir().resolve()
    )


def walk(folder: Path, without: Container[Path] = ()) -> Iterator[Path]:
    """Yield the files where sources may be in a folder, but not those of some inner folders."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if may_have_sources(here / name) and (here / name).resolve() not in without
        )
        yield from (here / name for name in sorted(files))


def _everything(root: Path) -> tuple[Library, ...]:
    """Return every top-level module of a folder whose lakefile names no library."""
    names = {
        path.stem
        for path in root.iterdir()
        if (path.suffix == ".lean" and path.is_file() and path.name not in LAKEFILES)
        or (path.is_dir() and may_have_sources(path) and any(path.rglob("*.lean")))
    }
    return tuple(
        Library(name, PurePosixPath(), (name,))
        for name in sorted(names)
        if not name.startswith(".")
    )


def _libraries(configuration: Mapping[str, Any]) -> Iterator[Library]:
    package_dir = str(configuration.get("srcDir", "."))
    for key in ("lean_lib", "lean_exe"):
        for entry in configuration.get(key, ()):
            yield read_target(entry, package_dir, executable=key == "lean_exe")


def read_target(
    entry: Mapping[str, Any], package_dir: str = ".", *, executable: bool = False
) -> Library:
    """Read a lakefile's entry of a library or an executable."""
    name = str(entry["name"]) if "name" in entry else "<unnamed>"
    folder = PurePosixPath(package_dir) / str(entry.get("srcDir", "."))
    if executable:
        roots: Sequence[str] = [str(entry.get("root", name))]
    else:
        globs = [str(g).removesuffix(".*").removesuffix(".+") for g in entry.get("globs", ())]
        roots = [str(root) for root in entry.get("roots", ())] or globs or [name]
        roots = list(dict.fromkeys([*roots, *globs]))
    return Library(name, folder, tuple(roots))


_DECLARATIONS = frozenset({"package", "lean_lib", "lean_exe", "require", "target", "script"})
_NAME = re.compile(r"` (\S+)")
_FIELD = re.compile(r'\b(srcDir|root) := ["`] ?([^"\s]*)')
_NAMES = re.compile(r"\b(roots|globs) := #\[ ([^\]]*)\]")
_PATH_WORDS = frozenset({"/", "(", ")", "⟨", "⟩", "__dir__", "FilePath.mk", "System.FilePath.mk"})


def _lean_configuration(text: str) -> dict[str, Any]:
    """Read the plain declarations of a ``lakefile.lean``, without computed values.

    ``lake translate-config`` gives those, and the native engine uses it for Lean's options; but it
    runs the file, which tracing with the embedded engine must not.
    """
    words = list(code_tokens(text))
    starts = [i for i, token in enumerate(words) if token.text in _DECLARATIONS]
    found: dict[str, Any] = {}
    for begin, stop in pairwise([*starts, len(words)]):
        kind, block = words[begin].text, words[begin + 1 : stop]
        if kind == "package":
            found |= {"name": block[0].text.strip('"«»') if block else "", **_fields(block)}
        elif kind == "require":
            found.setdefault(kind, []).append(_requirement(block))
        elif kind in {"lean_lib", "lean_exe"} and block:
            entry = {"name": block[0].text.strip('"«»'), **_fields(block)}
            found.setdefault(kind, []).append(entry)
    return found


def _requirement(block: Sequence[Token]) -> dict[str, str]:
    r"""Read ``require NAME from "folder"`` and ``… from __dir__ / "some" / "folder"``."""
    name, parts, follows = "", [], False
    for token in block:
        if token.text == "with" or token.text.startswith("@["):
            break
        if token.text == "from":
            follows = True
        elif not follows:  # the last word is the name: "scope" / "name" @ "version"
            name = name if name and token.kind == "symbol" else token.text.strip('"«»')
        elif token.kind == "string":
            parts.append(token.text.strip('"'))
        elif token.text not in _PATH_WORDS:
            break
    return {"name": name, "path": "/".join(parts)}


def _fields(block: Sequence[Token]) -> dict[str, Any]:
    """Collect ``srcDir := "…"``, ``roots := #[`A, `B]`` and similar fields."""
    code = " ".join(token.text for token in block)
    fields: dict[str, Any] = dict(_FIELD.findall(code))
    for name, values in _NAMES.findall(code):
        fields[name] = [value.replace("«", "").replace("»", "") for value in _NAME.findall(values)]
    return {name: value for name, value in fields.items() if value}


def _manifest(path: Path) -> tuple[tuple[Dependency, ...], PurePosixPath]:
    """Read ``lake-manifest.json`` of any version."""
    if not path.is_file():
        return (), _PACKAGES_DIR
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        entries = [_package(entry) for entry in data.get("packages", ())]
        return tuple(entries), PurePosixPath(data.get("packagesDir") or _PACKAGES_DIR)
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise TraceError(
            f"{path}: not a Lake manifest ({error}); make it again with: lake update"
        ) from None


def _package(entry: Mapping[str, Any]) -> Dependency:
    for kind in ("git", "path"):  # manifests before version 7 nest the fields
        if isinstance(entry.get(kind), dict):
            entry = {"type": kind, **entry[kind]}
    name = re.sub("[«»]", "", str(entry["name"]))
    if entry.get("type") == "path":
        return Dependency(name, str(entry["dir"]), path=str(entry["dir"]))
    return Dependency(name, str(entry["url"]), str(entry["rev"]))


def project_of(file: Path) -> Path | None:
    """Return the folder of the Lake project around a file, or ``None``."""
    return next(filter(find_lakefile, file.absolute().parents), None)


def project_of_file(file: Path) -> LakeProject:
    """Return the project of an absolute file: the one around it, or one of its imports."""
    around = (f for f in file.parents if find_lakefile(f) or (f / TOOLCHAIN_FILE).is_file())
    root = next(around, None)
    if root is None:
        beside = Library(file.stem, PurePosixPath(), tuple(_imported(file)))
        return LakeProject(file.parent, "", (beside,), only=PurePosixPath(file.name))
    project = read_project(root)
    only = PurePosixPath(file.relative_to(root).as_posix())
    if only not in project.sources().values():  # a scratch file beside the libraries
        own = Library(file.stem, PurePosixPath(), (module_name(only),))
        project = attrs.evolve(project, libraries=(*project.libraries, own))
    return attrs.evolve(project, only=only)


def _imported(file: Path) -> list[str]:
    """Return a file's module and those beside it that it imports, directly or not."""
    found: dict[str, None] = {}
    pending = [file.stem]
    while pending:
        module = pending.pop()
        path = file.parent / module_path(module)
        if module not in found and path.is_file():
            found[module] = None
            pending += parse_header(path.read_text("utf-8-sig", errors="replace")).imports
    return list(found)
