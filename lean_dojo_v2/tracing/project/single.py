"""A single Lean file as a project, for files outside projects."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import attrs

from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.tracing.project.content import name_of, sources_of
from lean_dojo_v2.tracing.project.lakefile import (
    TOOLCHAIN_FILE,
    LakeProject,
    Library,
    find_lakefile,
    read_project,
)
from lean_dojo_v2.tracing.project.modules import module_name, module_path


def project_of_file(file: Path) -> LakeProject:
    """Return the project of an absolute file: the one around it, or one of its imports.

    Raises:
        TraceError: If the files of the project around it cannot be read.
    """
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


def hash_of_file(file: Path) -> str:
    """Return the content name of a file with its project's sources, see :mod:`.content`.

    Raises:
        TraceError: As :func:`project_of_file`.
    """
    project = project_of_file(file)
    return name_of(sources_of(project))


def _imported(file: Path) -> list[str]:
    """Return a file's module and those beside it that it imports, directly or not."""
    found: dict[str, None] = {}
    pending = [file.stem]
    while pending:
        module = pending.pop()
        path = file.parent / module_path(module)
        if module not in found and path.is_file():
            found[module] = None
            pending += parse_header(path.read_text(encoding="utf-8", errors="replace")).imports
    return list(found)
