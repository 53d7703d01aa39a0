"""Goals as LeanDojo writes them."""

from __future__ import annotations

from lean_dojo_core.records import NO_GOALS

_GOAL_MARKS = ("⊢", "|")


def clean_state(printed: str) -> str:
    r"""Bring goals, as Lean prints them, into LeanDojo's form: one blank line between two goals.

    Lean starts every goal with a newline and puts nothing else between two goals; the line with
    ``⊢`` is a goal's last, up to its indented continuation.

    >>> clean_state("\ncase a\n⊢ p\ncase b\nh : p\n⊢ q ∧\n    r")
    'case a\n⊢ p\n\ncase b\nh : p\n⊢ q ∧\n    r'
    """
    if printed.strip() in {"", NO_GOALS}:
        return NO_GOALS
    lines: list[str] = []
    finished = False
    for line in printed.strip("\n").rstrip().split("\n"):
        if not line.strip():
            finished = finished and bool(lines)
            continue
        if finished and not line.startswith(" "):
            lines.append("")
            finished = False
        lines.append(line.rstrip())
        finished = finished or line.startswith(_GOAL_MARKS)
    return "\n".join(lines)
