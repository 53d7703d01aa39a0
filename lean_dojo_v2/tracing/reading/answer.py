"""Read the engine's answer to ``dojo.trace``.

References are in the format of an ``.ilean`` file: for each ``{"c": {"m": MODULE, "n": NAME}}`` a
definition and usages, each a place ``[line, unit, end line,
end unit, …]`` from 0, in UTF-16 units. The rest after the four numbers depends on the version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lean_dojo_core.records import Position
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.lean.verify.digests import kept
from lean_dojo_v2.tracing.reading.names import user_name
from lean_dojo_v2.tracing.reading.records import (
    Definition,
    Diagnostic,
    ElaboratedTactic,
    Elaboration,
    Reference,
    TracedCommand,
)

Fields: TypeAlias = Mapping[str, Any]
Home: TypeAlias = tuple[str, Position | None, Position | None]
"""The module that defines a constant; where its name starts and ends there, if known."""
_NOWHERE: Home = ("", None, None)


def read_answer(answer: Fields, places: PositionMap) -> Elaboration:
    """Read the answer; ``bytes`` are positions in the text that was sent.

    Raises:
        TraceError: If it is malformed.
    """

    def span(item: Fields) -> tuple[int, int]:
        start, end = item["bytes"]
        return places.index_of_byte(start), places.index_of_byte(end)

    try:
        declared = [one for one in answer["declarations"] if one["lean_name"] is not None]
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
            definitions=tuple(_definitions(answer, places)),
            references=tuple(_references(answer, places)),
            problems=tuple(_problem(message, places) for message in answer["messages"]),
            uses={one["lean_name"]: tuple(one["uses"]) for one in declared},
            made=tuple(answer["made"]),
            statements={one["lean_name"]: span(one["statement"])[1] for one in declared},
            in_memory=tuple(answer["in_memory"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"the engine's answer to dojo.trace is malformed: {error!r}") from error


def _problem(message: Fields, places: PositionMap) -> Diagnostic:
    start = message["pos"]
    return Diagnostic(
        str(message["data"]),
        places.index(start["line"], start["column"]),
        str(message["severity"]),
        str(message.get("kind") or "").removeprefix("[anonymous]"),
    )


def _constants(answer: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield the constants that a file names, with the places where it defines and uses them."""
    for key, info in json.loads(answer["ilean"])["references"].items():
        yield str(json.loads(key)["c"]["n"]), info


def _definitions(answer: Fields, places: PositionMap) -> Iterator[Definition]:
    for name, info in _constants(answer):
        if info["definition"]:
            yield Definition(user_name(name), *_span(info["definition"], places), name)


def _references(answer: Fields, places: PositionMap) -> list[Reference]:
    """Return the identifiers that denote constants, in the order of the text.

    Lean writes them in the order of a hash table.
    """
    homes = {item["lean_name"]: _home(item) for item in answer["references"]}
    found: list[Reference] = []
    for name, info in _constants(answer):
        home = homes.get(name, _NOWHERE)
        if info["definition"]:
            start, end = map(places.position, _span(info["definition"], places))
            home = (answer["module"] or "", start, end)
        module, *defined = home
        spans = (_span(usage, places) for usage in info["usages"])
        found += (Reference(user_name(name), module, *span, *defined) for span in spans)
    return sorted(found, key=lambda one: (one.start, one.end, one.full_name))


def _home(item: Fields) -> Home:
    start, end = item["def_pos"], item["def_end_pos"]
    if start is None or end is None:
        return item["module"] or "", None, None
    return item["module"] or "", (int(start[0]), int(start[1])), (int(end[0]), int(end[1]))


def _span(place: Sequence[Any], places: PositionMap) -> tuple[int, int]:
    line, unit, end_line, end_unit = map(int, place[:4])
    return places.index_of_utf16(line, unit), places.index_of_utf16(end_line, end_unit)
