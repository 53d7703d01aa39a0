"""A fixed ladder of closing tactics, as a measure of distance from a proof."""

from __future__ import annotations

from enum import IntEnum


class Rung(IntEnum):
    """The first rung on which all goals of a state close; a lower one is nearer to the end."""

    NOTHING_LEFT = 0
    TRIVIAL = 1
    SIMP = 2
    AUTOMATION = 3
    UNKNOWN = 4


_TRIVIAL = ("rfl", "assumption", "trivial")
# `simp_all` comes last, since running out of heartbeats ends the whole tactic.
_TACTICS: dict[Rung, tuple[str, ...]] = {
    Rung.TRIVIAL: _TRIVIAL,
    Rung.SIMP: (*_TRIVIAL, "simp_all"),
    Rung.AUTOMATION: (*_TRIVIAL, "omega", "decide", "grind", "simp_all"),
}
RUNGS = tuple(_TACTICS)
"""The rungs that have tactics, lowest first."""
RUNG_HEARTBEATS = 20_000
"""Heartbeats per rung (Lean's own limit is 200,000)."""


def closing_tactic(rung: Rung) -> str:
    """Return the tactic that closes all goals that a rung, or one below it, can close.

    >>> closing_tactic(Rung.SIMP)
    'all_goals (first | rfl | assumption | trivial | simp_all)'
    """
    return f"all_goals (first | {' | '.join(_TACTICS[rung])})"
