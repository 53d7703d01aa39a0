"""Trace with the embedded engine: one request a file gives everything that is known of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lean_dojo_core.errors import TraceError
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.workspace import SourceFile
from lean_dojo_v2.tracing.reading.ilean import Home, definitions, parse_ilean, references
from lean_dojo_v2.tracing.reading.infotree import read_problems
from lean_dojo_v2.tracing.reading.records import ElaboratedTactic, Elaboration, TracedCommand

TRACE_COMMAND = "dojo.trace"
COMPILE_COMMAND = "dojo.compile"
_NOWHERE: Home = ("", None)


def lay_out(files: Iterable[SourceFile], folder: Path) -> None:
    """Write files where the engine looks for modules: all below one folder.

    A project's own layout has several source folders and packages; and the engine may read what
    it is given and nothing else.
    """
    for file in files:
        path = folder / module_path(file.module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="\n")


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
        "fileName": str(module_path(file.module)),
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
                ElaboratedTactic(*span(tactic), tactic["state_before"], tactic["state_after"])
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
