"""Read ``.ilean`` files: which identifier means which constant, and where that is defined.

Lean writes one beside each compiled module, and ``lean -i PATH FILE`` writes one anywhere. It is
JSON: ``{"version", "module", "references": {IDENT: {"definition", "usages"}}, …}``. A place is
``[line, unit, end line, end unit, …]`` from 0, in UTF-16 units. IDENT was ``c:NAME`` up to version
2, and is ``{"c":{"m":MODULE,"n":NAME}}`` since; locals (``f``) are no constants. What comes after
the four numbers (the declaration around a use) changes between versions and is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_core.errors import TraceError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing.reading.names import user_name
from lean_dojo_v2.tracing.reading.records import Definition, Reference

Place: TypeAlias = tuple[int, int, int, int]
"""``(line, unit, end line, end unit)``, from 0, in UTF-16 units."""


@attrs.frozen
class Ident:
    """A constant as an ``.ilean`` names it; without its module before version 3 of the format."""

    module: str
    name: str


@attrs.frozen
class Ilean:
    """Where a module names the constants that it defines, and uses its own and others."""

    module: str
    definitions: Mapping[Ident, Place]
    usages: Mapping[Ident, tuple[Place, ...]]

    def position(self, ident: Ident) -> tuple[Position, Position] | None:
        """Return start and end of a constant's name, where this module defines it.

        The columns are UTF-16 units plus one, which are code points except after a character
        outside the Basic Multilingual Plane on the same line.
        """
        place = self.definitions.get(ident) or self.definitions.get(Ident("", ident.name))
        if place is None:
            return None
        return (place[0] + 1, place[1] + 1), (place[2] + 1, place[3] + 1)


def read_ilean(path: Path) -> Ilean:
    """Read a file.

    Raises:
        TraceError: If it cannot be read as one.
    """
    try:
        data = json.loads(path.read_bytes())
        return parse_ilean(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"{path} is not an .ilean file that can be read: {error!r}") from None


def parse_ilean(data: Mapping[str, Any]) -> Ilean:
    """Read the content of an ``.ilean`` file, of any version up to 5."""
    definitions: dict[Ident, Place] = {}
    usages: dict[Ident, tuple[Place, ...]] = {}
    for ident, info in _constants(data["references"]):
        if info.get("definition"):
            definitions[ident] = _place(info["definition"])
        if info.get("usages"):
            usages[ident] = tuple(_place(usage) for usage in info["usages"])
    return Ilean(str(data["module"]), definitions, usages)


Home: TypeAlias = tuple[str, tuple[Position, Position] | None]
"""The module that defines a constant, and where its name stands there, if known."""


def definitions(known: Ilean, places: PositionMap) -> Iterator[Definition]:
    """Yield the constants that a module defines, as indices into its text."""
    for ident, place in known.definitions.items():
        start, end = _span(place, places)
        yield Definition(user_name(ident.name), start, end, ident.name)


def references(known: Ilean, places: PositionMap, home: Callable[[Ident], Home]) -> list[Reference]:
    """Give the identifiers of a module that mean constants, as indices into its text, in its order.

    Lean writes them in the order of a hash table, which says nothing. ``home`` says where constants
    are defined that the module does not define itself.
    """
    found: list[Reference] = []
    for ident, uses in known.usages.items():
        own = known.definitions.get(ident)
        if own is not None:
            start, end = _span(own, places)
            module = known.module
            defined: tuple[Position | None, Position | None]
            defined = places.position(start), places.position(end)
        else:
            module, elsewhere = home(ident)
            defined = elsewhere or (None, None)
        name = user_name(ident.name)
        found += (Reference(name, module, *_span(place, places), *defined) for place in uses)
    return sorted(found, key=lambda one: (one.start, one.end, one.full_name))


def _span(place: Place, places: PositionMap) -> tuple[int, int]:
    line, unit, end_line, end_unit = place
    return places.index_of_utf16(line, unit), places.index_of_utf16(end_line, end_unit)


def _constants(references: Mapping[str, Any]) -> Iterator[tuple[Ident, Mapping[str, Any]]]:
    for key, info in references.items():
        if key.startswith("{"):
            named = json.loads(key).get("c")
            if named is not None:
                yield Ident(str(named["m"]), str(named["n"])), info
        elif key.startswith("c:"):
            yield Ident("", key[2:]), info


def _place(numbers: list[Any]) -> Place:
    return int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3])
