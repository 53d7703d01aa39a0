"""Trace with the embedded engine: one request a file gives everything that is known of it."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from lean_dojo_core.errors import TraceError
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.lean.verify.digests import kept
from lean_dojo_v2.tracing.project.content import data_of, readable_files
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace
from lean_dojo_v2.tracing.reading.ilean import Home, definitions, parse_ilean, references
from lean_dojo_v2.tracing.reading.infotree import read_problems
from lean_dojo_v2.tracing.reading.records import ElaboratedTactic, Elaboration, TracedCommand

_log = logging.getLogger(__name__)

TRACE_COMMAND = "dojo.trace"
COMPILE_COMMAND = "dojo.compile"
_NOWHERE: Home = ("", None)


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


def elaborate(
    server: Server, file: SourceFile, timeout: float, *, keep: Path | None = None
) -> Elaboration:
    """Have an engine elaborate a file; what it imports, the engine reads from its project folder.

    It may take ``timeout`` seconds. If others import the file, ``keep`` is the project folder: it
    is compiled there then.

    Raises:
        RequestError: If the engine refuses the file (its imports, for example).
        EngineLostError: If the engine died or took too long.
        TraceError: If its answer cannot be read.
    """
    options = {"sequenceOnly": True, "ilean": True, "olean": keep is not None}
    answer = _ask(server, TRACE_COMMAND, file, timeout, options)
    if keep is not None:
        _keep(answer, file, keep)
    return read_answer(answer, PositionMap(file.text))


def compile_module(server: Server, file: SourceFile, timeout: float, *, keep: Path) -> None:
    """Have an engine compile a file into its project folder, for those that import it.

    Raises:
        RequestError: If the engine refuses the file.
        EngineLostError: If the engine died or took too long.
    """
    _keep(_ask(server, COMPILE_COMMAND, file, timeout, {}), file, keep)


def _ask(
    server: Server, command: str, file: SourceFile, timeout: float, options: Mapping[str, bool]
) -> dict[str, Any]:
    request = {
        "file": file.text,
        "fileName": file.path,
        "module": file.module,
        "compiled": True,
    }
    try:
        return server.ask(command, {**request, **options}, timeout)
    except RequestError as error:  # whoever reads it knows no commands of an engine
        raise RequestError(str(error).removeprefix(f"{command}: "), error.code) from None


def _keep(answer: Mapping[str, Any], file: SourceFile, folder: Path) -> None:
    """Put a compiled module beside its source; there is none if an import was not compiled."""
    if "olean" in answer:
        path = folder / module_path(file.module).with_suffix(".olean")
        atomic_write_bytes(path, base64.b64decode(answer["olean"]))


def read_answer(answer: Mapping[str, Any], places: PositionMap) -> Elaboration:
    """Read the answer to ``dojo.trace``; ``bytes`` are positions in the text that was sent.

    Raises:
        TraceError: If it has not the form that it should have.
    """

    def span(item: Mapping[str, Any]) -> tuple[int, int]:
        start, end = item["bytes"]
        return places.index_of_byte(start), places.index_of_byte(end)

    try:
        known = parse_ilean(json.loads(answer["ilean"]))
        homes = {item["lean_name"]: _home(item) for item in answer["references"]}
        return Elaboration(
            commands=tuple(TracedCommand(*span(command)) for command in answer["commands"]),
            steps=tuple(
                ElaboratedTactic(
                    *span(tactic),
                    tactic["state_before"],
                    tactic["state_after"],
                    None if tactic["digest"] is None else kept(tactic["digest"]),
                )
                for tactic in answer["tactics"]
                if tactic["in_sequence"]
            ),
            definitions=tuple(definitions(known, places)),
            references=tuple(
                references(known, places, lambda ident: homes.get(ident.name, _NOWHERE))
            ),
            problems=tuple(read_problems(answer["messages"], places)),
            uses={
                declared["lean_name"]: tuple(declared["uses"])
                for declared in answer["declarations"]
                if declared["lean_name"] is not None
            },
            made=tuple(answer.get("made", ())),
            statements={
                declared["lean_name"]: span(declared["statement"])[1]
                for declared in answer["declarations"]
                if declared["lean_name"] is not None
            },
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(
            f"the engine's answer to {TRACE_COMMAND} is malformed: {error!r}"
        ) from error


def _home(item: Mapping[str, Any]) -> Home:
    start, end = item["def_pos"], item["def_end_pos"]
    if start is None or end is None:
        return item["module"] or "", None
    return item["module"] or "", ((int(start[0]), int(start[1])), (int(end[0]), int(end[1])))
