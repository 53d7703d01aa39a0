"""The sources of a project, which determine the result of tracing, and a hash of them.

Sources are the Lean files of a project's libraries, those of packages inside it that it requires by
a path, Lake's files, and every file whose name occurs in a string of a source (``include_str
"../data/words.txt"``). Other files, such as databases, runs and caches, do not count.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import new as new_hash, sha256
from pathlib import Path, PurePosixPath

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.tracing.project import git
from lean_dojo_v2.tracing.project.lakefile import (
    LAKEFILES,
    MANIFEST,
    TOOLCHAIN_FILE,
    LakeProject,
    find_lakefile,
    read_project,
    walk,
)

CONTENT = "files-"
"""Prefix of the name of a content, unlike any commit."""

_STRING = re.compile(r'"((?:[^"\\\n]|\\.){1,250})"')
_MOST_BYTES = 64 << 20
"""Maximum size of a source that is not Lean."""


def is_content(commit: str) -> bool:
    """Whether the commit of a record is the name of a content, not a git commit."""
    return commit.startswith(CONTENT)


def sources_of(project: LakeProject) -> dict[str, Path]:
    """Return the sources of a project: path inside it → file."""
    lean = _lean_files(project)
    found = {path: project.root / path for path in {*lean, *_lake_files(project)}}
    return found | _data(project, lean)


def name_of(files: dict[str, Path]) -> str:
    """Name the content of some files."""
    digest = sha256()
    for path in sorted(files, key=PurePosixPath):
        content = files[path].read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return CONTENT + digest.hexdigest()[:40]


def commit_of(folder: Path, sources: Mapping[str, Path]) -> str | None:
    """Return the commit that a folder has checked out, if its sources are those of the commit.

    Other files (``dynamic_database.json``) and a manifest written by Lake since then are ignored.
    """
    commit = git.head_of(folder)
    if commit is None:
        return None
    try:
        committed = git.files_of(folder, commit)
    except TraceError:
        return None
    if any(_is_missing(folder, path) for path in committed):
        return None
    own = {path: file for path, file in sources.items() if path != MANIFEST or path in committed}
    same = all(_is_blob(file, committed.get(path, "")) for path, file in own.items())
    return commit if same else None


def data_of(project: LakeProject) -> dict[str, Path]:
    """Return the non-Lean files whose names occur in strings of the Lean files."""
    return _data(project, _lean_files(project))


def state_of_data(project: LakeProject) -> str:
    """Return the content name of :func:`data_of`'s files; empty if there are none."""
    data = data_of(project)
    return name_of(data) if data else ""


def lake_state(root: Path) -> str:
    """Hash Lake's files, which determine compiled packages and their options.

    A dependency that is a folder has no commit, so its lakefile counts.
    """
    dependencies = read_project(root).dependencies
    digest = sha256(repr(dependencies).encode())
    for folder in (root, *(root / d.path for d in dependencies if d.path is not None)):
        lakefile = find_lakefile(folder)
        digest.update(sha256(lakefile.read_bytes() if lakefile else b"").digest())
    return digest.hexdigest()


def readable_files(folder: Path) -> Iterator[Path]:
    """Yield what a project's programs may read: no links elsewhere, nothing hidden or built."""
    home = folder.resolve()
    return (path for path in _walk(folder) if home in path.resolve().parents)


def _data(project: LakeProject, lean: Iterable[str]) -> dict[str, Path]:
    folder = project.root
    texts = ((folder / path).read_text(encoding="utf-8", errors="replace") for path in lean)
    named = {string[1] for text in texts for string in _STRING.finditer(text)}
    if find_lakefile(folder) is None:  # a single file, in a folder of any size
        beside = (os.path.normpath(folder / name) for name in named)
        data = [Path(path) for path in beside if path.startswith(f"{folder}/")]
        # Path.is_file raises an OSError for a string that is too long for a file name.
        data = [path for path in data if os.path.isfile(path)]  # noqa: PTH113
    else:
        names = {name.rpartition("/")[2] for name in named} - {""}
        data = [path for path in _walk(folder) if path.name in names] if names else []
    return {p.relative_to(folder).as_posix(): p for p in data if p.suffix != ".lean"}


def _lean_files(project: LakeProject) -> set[str]:
    inside = [project, *map(read_project, project.inner_packages())]
    return {
        (one.root / path).relative_to(project.root).as_posix()
        for one in inside
        for path in one.sources().values()
    }


def _lake_files(project: LakeProject) -> Iterator[str]:
    for package in (project.root, *project.inner_packages()):
        for name in (TOOLCHAIN_FILE, *LAKEFILES):
            if (package / name).is_file():
                yield (package / name).relative_to(project.root).as_posix()
    if (project.root / MANIFEST).is_file() and project.dependencies:
        yield MANIFEST


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may be sources."""
    return (path for path in walk(folder) if path.is_file() and path.stat().st_size <= _MOST_BYTES)


def _is_missing(folder: Path, path: str) -> bool:
    """Whether a source of the commit was deleted."""
    name = PurePosixPath(path)
    counts = name.suffix == ".lean" or path in {TOOLCHAIN_FILE, MANIFEST, *LAKEFILES}
    return counts and not os.path.lexists(folder / path)


def _is_blob(file: Path, blob: str) -> bool:
    """Whether a file equals git's blob, ignoring Windows line endings."""
    content = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
    kind = "sha256" if len(blob) == 64 else "sha1"
    return blob in {
        new_hash(kind, b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()
        for text in (content, content.replace(b"\r\n", b"\n"))
    }
