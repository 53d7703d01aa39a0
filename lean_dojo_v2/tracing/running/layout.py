"""Lay out a project for the embedded engine, which may read only one folder."""

import logging
import os
import re
import shutil
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from lean_dojo_v2.tracing.project.content import data_of, readable_files
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile, module_path
from lean_dojo_v2.tracing.project.workspace import Workspace

_log = logging.getLogger(__name__)

_READS = re.compile(r"\b(?:include_str|include_bytes|FS|FilePath|readFile|readBinFile)\b")
"""Identifiers of functions that read files; without any, no files need to be copied."""
_MOST_BYTES = 1 << 30


def lay_out(workspace: Workspace, folder: Path) -> None:
    """Write files where the engine looks for modules, all below one folder, which it may read.

    Files for the project's programs keep their places.
    """
    if any(_READS.search(file.text) for file in workspace.all):
        _copy(workspace.project, folder)
    for file in workspace.all:
        path = folder / module_path(file.module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="\n")


def _copy(project: LakeProject, folder: Path) -> None:
    """Copy the project's files, and those of packages that Lake has fetched.

    For a single file only the files that it names are copied, since its folder may be large.
    """
    if find_lakefile(project.root) is None:
        sources: Iterable[Path] = data_of(project).values()
    else:
        places = (project.root / project.place_of(d) for d in project.dependencies)
        packages = [project.root, *(place for place in places if place.is_dir())]
        sources = chain.from_iterable(map(readable_files, packages))
    left = _MOST_BYTES
    for source in sources:
        left -= source.stat().st_size
        if left < 0:
            _log.warning("%s: programs of the project cannot read all of it", project.root)
            return
        target = Path(os.path.normpath(folder / os.path.relpath(source, project.root)))
        if target.is_relative_to(folder):  # not a package elsewhere
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
