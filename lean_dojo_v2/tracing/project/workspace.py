"""All Lean files that take part in tracing a repository: its own and its dependencies'."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import attrs

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean import Header, parse_header, read_source
from lean_dojo_v2.tracing.project import git
from lean_dojo_v2.tracing.project.lakefile import Dependency, LakeProject, module_path, read_project

CORE_ROOTS = frozenset({"Init", "Std", "Lean", "Lake"})
"""Roots of the modules that come with Lean itself."""
CORE_FOLDER = PurePosixPath(".lake/packages/lean4/src/lean")
"""LeanDojo's path of Lean's own sources."""


@attrs.frozen
class SourceFile:
    """A Lean file; its text has Unix line endings, as Lean reads it.

    The ``path`` is relative to the repository, with ``/``; files of dependencies are below
    ``.lake/packages``. Only they have a ``package``, the dependency's name.
    """

    module: str
    path: str
    text: str
    header: Header
    package: str = ""


@attrs.frozen
class Workspace:
    """The files of a repository and, if available, of its dependencies, by module.

    Of dependencies there are only imported ``files``; ``imports`` are direct, in a header's order;
    ``packages`` name the dependency of unavailable modules by their root; ``unusable`` are
    unreadable files of the repository by path, with the reason.
    """

    project: LakeProject
    files: Mapping[str, SourceFile]
    imports: Mapping[str, tuple[str, ...]]
    packages: Mapping[str, str]
    unusable: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def own(self) -> list[SourceFile]:
        """The repository's own files, each once, imported ones first; or the single file.

        Of a file in two targets, the module that others import counts, else the first target's.
        """
        imported = {name for file in self.files.values() for name in file.header.modules}
        chosen: dict[str, str] = {}
        for file in sorted(self.files.values(), key=lambda file: file.module not in imported):
            chosen.setdefault(file.path, file.module)
        own = [f for f in self.all if not f.package and f.module == chosen[f.path]]
        only = self.project.only
        return own if only is None else [f for f in own if f.path == str(only)]

    @property
    def all(self) -> list[SourceFile]:
        """Every file, imported ones first, otherwise by module."""
        return [self.files[module] for module in imported_first(self.imports, sorted(self.imports))]

    def closure(self, module: str) -> list[SourceFile]:
        """Return the files that a module imports, directly or not, imported ones first."""
        return [self.files[name] for name in imported_first(self.imports, [module])[:-1]]

    def path_of(self, module: str) -> str | None:
        """Return the file of any module, relative to the repository."""
        if module in self.files:
            return self.files[module].path
        root = module.split(".", maxsplit=1)[0]
        if root in CORE_ROOTS:
            folder = CORE_FOLDER / "lake" if root == "Lake" else CORE_FOLDER
            return str(folder / module_path(module))
        package = self.packages.get(root.lower())
        if package is None:
            return None
        return str(PurePosixPath(".lake/packages") / package / module_path(module))

    def imports_of(self, file: SourceFile) -> tuple[str, ...]:
        """Return the paths of a file's direct imports."""
        return tuple(path for name in file.header.modules if (path := self.path_of(name)))

    def foreign(self) -> tuple[str, str] | None:
        """Find an import of another package without available source, and the importing file.

        A missing module of the repository itself is reported with the files that import it.
        """
        own = {f.module.split(".")[0] for f in self.files.values() if not f.package}
        for file in self.all:
            for name in file.header.modules:
                root = name.split(".")[0]
                if name not in self.files and root not in CORE_ROOTS and root not in own:
                    return name, file.path
        return None


def read_workspace(project: LakeProject, *, fetch: bool = False) -> Workspace:
    """Read a project and what it imports of its dependencies, with ``fetch`` cloned ones."""
    unusable: dict[str, str] = {}
    files = {f.module: f for f in _read(project, project.root, PurePosixPath(), unusable)}
    if not files:
        names = ", ".join(library.name for library in project.libraries) or "none"
        said = "".join(f"\n{path}: {why}" for path, why in unusable.items())
        kind = "has no Lean file that can be read" if unusable else "has no Lean file"
        raise TraceError(f"{project.root} {kind} in its libraries ({names}){said}")
    available: dict[str, SourceFile] = {}
    pending = list(project.dependencies)
    while needed := _missing(files, available):  # one package may import another, in any order
        found = {d.name: _of_dependency(project, d, needed, fetch=fetch) for d in pending}
        pending = [dependency for dependency in pending if not found[dependency.name]]
        if not any(found.values()):
            break
        for modules in found.values():
            available.update(modules)
    _add_imported(files, available)
    while circle := _circle(_imports(files)):
        for index, module in enumerate(circle):
            names = " → ".join((*circle[index:], *circle[: index + 1]))
            unusable[files.pop(module).path] = f"import cycle: {names}"
    packages = {d.name.lower(): d.name for d in project.dependencies}
    if project.only is not None:
        unusable = {path: why for path, why in unusable.items() if path == str(project.only)}
    return Workspace(project, files, _imports(files), packages, unusable)


def imported_first(imports: Mapping[str, Sequence[str]], modules: Iterable[str]) -> list[str]:
    """Return modules and all that they import, imported ones first.

    graphlib sorts, but cannot restrict to what one module reaches, and cache keys depend on the
    order. There is no recursion, since chains are long.
    """
    done: dict[str, None] = {}
    for root in modules:
        stack = [(root, False)]
        while stack:
            module, finished = stack.pop()
            if finished:
                done[module] = None
            elif module not in done:
                stack.append((module, True))
                stack.extend((name, False) for name in reversed(imports[module]))
    return list(done)


def _imports(files: Mapping[str, SourceFile]) -> dict[str, tuple[str, ...]]:
    return {
        module: tuple(name for name in file.header.modules if name in files)
        for module, file in files.items()
    }


def _circle(imports: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Find a cycle of imports, if any."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][:0:-1]
        return circle
    return []


def _missing(*known: Mapping[str, SourceFile]) -> set[str]:
    """Return the roots of imports that are neither among the files nor Lean's."""
    present = {module for files in known for module in files}
    imported = {name for files in known for f in files.values() for name in f.header.modules}
    return {name.split(".")[0] for name in imported - present} - CORE_ROOTS


def _add_imported(files: dict[str, SourceFile], available: Mapping[str, SourceFile]) -> None:
    pending = [name for file in files.values() for name in file.header.modules]
    while pending:
        name = pending.pop()
        if name not in files and name in available:
            files[name] = available[name]
            pending.extend(available[name].header.modules)


def _of_dependency(
    project: LakeProject, dependency: Dependency, roots: set[str], *, fetch: bool
) -> dict[str, SourceFile]:
    """Read a dependency's files, if available and if it has any of the roots."""
    place = project.place_of(dependency)
    folder = project.root / place
    if not folder.is_dir():
        if not fetch or not dependency.commit:
            return {}
        folder = git.checkout(dependency.url, dependency.commit)
    inner = read_project(folder)
    tops = {root.split(".")[0] for library in inner.libraries for root in library.roots}
    if not tops & roots or "Mathlib" in tops:
        return {}
    shown = PurePosixPath(".lake/packages") / dependency.name
    if dependency.path is not None and ".." not in place.parts and not place.is_absolute():
        shown = place
    return {f.module: f for f in _read(inner, folder, shown, {}, dependency.name)}


def _read(
    project: LakeProject,
    folder: Path,
    shown: PurePosixPath,
    unusable: dict[str, str],
    package: str = "",
) -> Iterable[SourceFile]:
    """Read a project's files; add unreadable ones to ``unusable``."""
    for module, path in project.sources().items():
        try:
            text = read_source(folder / path)
        except UnicodeDecodeError as error:
            unusable[str(shown / path)] = f"it is not UTF-8 text: {error}"
        except OSError as error:
            unusable[str(shown / path)] = f"it cannot be read: {error.strerror}"
        else:
            yield SourceFile(module, str(shown / path), text, parse_header(text), package)
