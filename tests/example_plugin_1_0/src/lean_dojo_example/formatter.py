"""A prompt with the first goal only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lean_dojo_core import Message, Row, Theorem, remove_marks

INSTRUCTION = "Give the next Lean 4 tactic for this goal."


class FocusedGoal:
    """Asks with the first goal, the one that a tactic acts on, and says how many wait behind it.

    States with many goals are long, and the later goals rarely matter for the next tactic.

    >>> print(FocusedGoal().prompt("⊢ p\\n\\n⊢ q")[-1]["content"])
    ⊢ p
    -- and 1 more
    """

    columns: tuple[str, ...] = ("prompt", "completion")

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Give one row for each tactic of one line that does not give up."""
        for step in theorem.traced_tactics:
            tactic = remove_marks(step.tactic).strip()
            given_up = {"sorry", "admit"} & set(tactic.replace("(", " ").replace(")", " ").split())
            if tactic and "\n" not in tactic and not given_up and "⊢" in step.state_before:
                yield {
                    "prompt": self.prompt(step.state_before),
                    "completion": [{"role": "assistant", "content": tactic}],
                }

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:
        """Ask for the next tactic at ``goal``; premises stand above the goal."""
        first, *others = remove_marks(goal).strip().split("\n\n")
        lines = [*(f"-- {premise}" for premise in premises), first]
        if others:
            lines.append(f"-- and {len(others)} more")
        return [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": "\n".join(lines)},
        ]
