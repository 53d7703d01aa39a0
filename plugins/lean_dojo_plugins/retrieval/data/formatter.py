"""The dataset formatter of retrieval: states, and the premises that their tactics use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lean_dojo_core import Message, Row, Theorem, remove_marks
from lean_dojo_core.records import NO_GOALS


class PremisePairs:
    """One row per tactic: the state before it (the query) and the premises of the tactic.

    ``premises`` is a list of ``{full_name, def_path, def_pos}``, each premise once, empty if the
    tactic uses none.

    >>> from lean_dojo_core import Annotation, TracedTactic
    >>> use = Annotation("Nat.add_comm", "Nat.lean", (3, 9), (3, 17))
    >>> tactic = TracedTactic("rw [Nat.add_comm]", "⊢ a + b = b + a", "no goals", premises=(use,))
    >>> theorem = Theorem("t", "T.lean", (1, 1), (2, 1), "u", "c", traced_tactics=(tactic,))
    >>> [row["premises"] for row in PremisePairs().rows(theorem)]
    [[{'full_name': 'Nat.add_comm', 'def_path': 'Nat.lean', 'def_pos': (3, 9)}]]
    """

    columns: tuple[str, ...] = ("state", "tactic", "premises")

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row per tactic that has a goal before it."""
        for tactic in theorem.traced_tactics:
            if tactic.state_before.strip() in {"", NO_GOALS}:
                continue
            unique = dict.fromkeys((p.full_name, p.def_path, p.def_pos) for p in tactic.premises)
            yield {
                "state": remove_marks(tactic.state_before),
                "tactic": tactic.tactic,
                "premises": [
                    {"full_name": name, "def_path": path, "def_pos": position}
                    for name, path, position in unique
                ],
            }

    def prompt(
        self,
        goal: str,
        *,
        premises: Sequence[str] = (),  # noqa: ARG002 - the protocol's signature
    ) -> list[Message]:
        """Return the query of a goal: the state itself, as one user turn."""
        return [{"role": "user", "content": remove_marks(goal)}]
