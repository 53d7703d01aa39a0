"""What an engine elaborates so that V8 sees which of Lean's functions run often."""

from functools import cache
from pathlib import Path

import orjson

_TEXT = Path(__file__).with_name("warm_up.lean")
_ROUNDS = 2
"""How often the text is elaborated: more makes engines larger, and hardly faster."""
_GOAL = "∀ a b c : Nat, a ≤ b → a + c ≤ b + c"
_TACTICS = (
    "rfl", "simp", "simp_all", "omega", "decide", "grind", "intros", "constructor", "exact h",
    "rw [h]",
)  # fmt: skip


@cache
def warm_up_requests() -> bytes:
    """Return requests as lines of the protocol. Engines remember files, so none comes twice."""
    text = _TEXT.read_text(encoding="utf-8")
    lines: list[bytes] = []

    def add(command: str, **fields: object) -> None:
        lines.append(command.encode() + b" " + orjson.dumps(fields))

    add("goal.start", expr=_GOAL)  # state 0
    for number in range(_ROUNDS):
        name = {"fileName": "WarmUp.lean"}
        traced, checked = (text.replace("WarmUp", f"{verb}{number}") for verb in ("Trace", "Check"))
        add("dojo.trace", file=traced, module="WarmUp", compiled=True, olean=False, **name)
        add("dojo.check", file=checked, all=True, **name)
        for tactic in _TACTICS:
            add("dojo.parse_tactic", tactic=tactic, stateId=0)
            add("goal.tactic", tactic=tactic, stateId=0, goalId=0)
    return b"\n".join(lines) + b"\n"
