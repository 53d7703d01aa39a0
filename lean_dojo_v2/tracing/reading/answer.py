"""Read the engine's answer to ``dojo.trace``.

References are in the format of an ``.ilean`` file: for each ``{"c": {"m": MODULE, "n": NAME}}`` a
definition and usages, each a place ``[line, unit, end line,
end unit, …]`` from 0, in UTF-16 units. The rest after the four numbers depends on the version.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lean_dojo_core.records import Position
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean import LeanMessage, PositionMap, recorded_digest
from lean_dojo_v2.tracing.reading import records
from lean_dojo_v2.tracing.reading.names import user_name

Fields: TypeAlias = Mapping[str, Any]


def read_answer(answer: Fields, places: PositionMap) -> records.Elaboration:
    """Read the answer; ``bytes`` are positions in the text that was sent."""

    def span(item: Fields) -> records.Span:
        start, end = item["bytes"]
        return places.index_of_byte(start), places.index_of_byte(end)

    try:
        return records.Elaboration(
            commands=tuple(map(span, answer["commands"])),
            declared=tuple(
                records.Declared(
                    *span(one), one["lean_name"], span(one["statement"])[1], tuple(one["uses"])
                )
                for one in answer["declarations"]
            ),
            steps=tuple(
                records.ElaboratedTactic(
                    *span(tactic),
                    tactic["state_before"],
                    tactic["state_after"],
                    None if tactic["digest"] is None else recorded_digest(tactic["digest"]),
                )
                for tactic in answer["tactics"]
            ),
            definitions=tuple(
                records.Definition(name, _span(info["definition"], places)[0])
                for name, info in _constants(answer)
                if info["definition"]
            ),
            references=tuple(_references(answer, places)),
            messages=tuple(LeanMessage.parse_all(answer["messages"])),
            made=tuple(answer["made"]),
            in_memory=tuple(answer["in_memory"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"the engine's answer to dojo.trace is malformed: {error!r}") from error


def _constants(answer: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield the constants that a file names, with the places where it defines and uses them."""
    for key, info in json.loads(answer["ilean"])["references"].items():
        yield str(json.loads(key)["c"]["n"]), info


def _references(answer: Fields, places: PositionMap) -> list[records.Reference]:
    """Return the identifiers that denote constants, in the order of the text."""
    homes: dict[str, Fields] = {item["lean_name"]: item for item in answer["references"]}
    found: list[records.Reference] = []
    for name, info in _constants(answer):
        home = homes.get(name, {})
        module, defined = home.get("module"), (_place(home, "def_pos"), _place(home, "def_end_pos"))
        if info["definition"]:
            start, end = map(places.position, _span(info["definition"], places))
            module, defined = answer["module"], (start, end)
        spans = (_span(usage, places) for usage in info["usages"])
        found += (
            records.Reference(user_name(name), module or "", *span, *defined) for span in spans
        )
    return sorted(found, key=lambda one: (one.start, one.end, one.full_name))


def _place(home: Fields, key: str) -> Position | None:
    place = home.get(key)
    return None if place is None else (int(place[0]), int(place[1]))


def _span(place: Sequence[Any], places: PositionMap) -> records.Span:
    line, unit, end_line, end_unit = map(int, place[:4])
    return places.index_of_utf16(line, unit), places.index_of_utf16(end_line, end_unit)
