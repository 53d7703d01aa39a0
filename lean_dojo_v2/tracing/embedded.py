"""Trace with the embedded engine: one request a file gives everything that is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lean_dojo_core.errors import TraceError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.server import Server
from lean_dojo_v2.tracing.infotree import read_problems
from lean_dojo_v2.tracing.positions import PositionMap
from lean_dojo_v2.tracing.records import Command, Definition, Elaboration, Reference, Step
from lean_dojo_v2.tracing.workspace import SourceFile

TRACE_COMMAND = "dojo.trace"


def elaborate(
    server: Server, file: SourceFile, closure: Sequence[SourceFile], timeout: float
) -> Elaboration:
    """Have an engine elaborate a file.

    Args:
        server: The engine.
        file: The file.
        closure: The files that it imports and that Lean's library does not have, in order.
        timeout: Seconds that it may take.

    Raises:
        RequestError: If the engine refuses the file (its imports, for example).
        EngineLostError: If the engine died or took too long.
    """
    answer = server.run(TRACE_COMMAND, request(file, closure), timeout=timeout)
    if "error" in answer:
        raise RequestError(str(answer.get("desc") or answer["error"]), str(answer["error"]))
    return read_answer(answer, PositionMap(file.text))


def request(file: SourceFile, closure: Sequence[SourceFile]) -> dict[str, Any]:
    """Make the request for a file."""
    return {
        "file": file.text,
        "fileName": file.path,
        "module": file.module,
        "sources": [{"module": source.module, "file": source.text} for source in closure],
    }


def read_answer(answer: Mapping[str, Any], places: PositionMap) -> Elaboration:
    """Read the answer; positions in it are bytes.

    Raises:
        TraceError: If it has not the form that it should have.
    """
    at = places.index_of_byte
    try:
        return Elaboration(
            commands=tuple(Command(at(c["start"]), at(c["end"])) for c in answer["commands"]),
            steps=tuple(
                Step(at(t["start"]), at(t["end"]), t["before"], t["after"])
                for t in answer["tactics"]
            ),
            definitions=tuple(
                Definition(d["name"], at(d["start"]), at(d["end"])) for d in answer["definitions"]
            ),
            references=tuple(_reference(r, places) for r in answer["references"]),
            problems=tuple(read_problems(answer["messages"], places)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(
            f"the engine's answer to {TRACE_COMMAND} is malformed: {error!r}"
        ) from error


def _reference(data: Mapping[str, Any], places: PositionMap) -> Reference:
    return Reference(
        data["name"],
        data["module"],
        places.index_of_byte(data["start"]),
        places.index_of_byte(data["end"]),
        _position(data.get("defPos")),
        _position(data.get("defEnd")),
    )


def _position(data: Mapping[str, Any] | None) -> Position | None:
    return None if data is None else (int(data["line"]), int(data["column"]) + 1)
