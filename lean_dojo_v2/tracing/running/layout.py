"""Lay out a project for the embedded engine, which may read one folder and nothing else."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from lean_dojo_v2.tracing.project.content import data_of, readable_files
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.workspace import Workspace

_log = logging.getLogger(__name__)

_READS = re.compile(r"\b(?:include_str|include_bytes|FS|FilePath|readFile|readBinFile)\b")
"""How programs read files; where no source has such a word, none has to be laid out."""
_MOST_BYTES = 1 << 30


def lay_out(workspace: Workspace, folder: Path) -> None:
    """Write files where the engine looks for modules: all below one folder.

    A project's own layout has several source folders and packages; and the engine may read what
    it is given and nothing else. What programs of the project may read lies at its own place.
    """
    if any(_READS.search(file.text) for file in workspace.all):
        _copy(workspace.project, folder)
    for file in workspace.all:
        path = folder / module_path(file.module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="\n")


def _copy(project: LakeProject, folder: Path) -> None:
    """Copy the project's files, and those of packages that Lake has fetched.

    One file alone may lie in a folder of any size: then only the files that it names are copied.
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
        if target.is_relative_to(folder):  # not of a package elsewhere
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
