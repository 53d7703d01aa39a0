"""Goals in LeanDojo's format."""

from __future__ import annotations

from lean_dojo_core.records import NO_GOALS

_GOAL_MARKS = ("⊢", "|")


def clean_state(printed: str) -> str:
    r"""Convert goals printed by Lean to LeanDojo's format, with a blank line between goals.

    Lean starts every goal with a newline and has no other separator; a goal ends with its line with
    ``⊢`` and the indented continuation.

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
