"""Proofs by Lean's own automation, the baseline for every model."""

from collections.abc import Sequence
from typing import Self

from lean_dojo_core.records import Theorem
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Suggestion

CLOSERS = ("rfl", "simp_all", "omega", "decide", "grind")
"""Tactics that close a goal or do little, cheapest first."""

OPENERS = ("intros", "constructor", "ext", "exfalso")
"""Tactics that simplify or split a goal."""

TACTICS = (
    *CLOSERS,
    *(f"simp_all <;> {closer}" for closer in ("omega", "grind")),
    *OPENERS,
    *(f"{opener} <;> {closer}" for opener in OPENERS[:2] for closer in CLOSERS),
)
"""The tactics tried at every state, in order."""

SUGGESTIONS = tuple(Suggestion(text, -0.7 * (rank + 1)) for rank, text in enumerate(TACTICS))
"""The same with log-probabilities for ranking: each next tactic is half as probable."""

CLOSING_TACTICS = SUGGESTIONS[: len(CLOSERS)]
"""The tactics added to a model's, which close the goals that it simplifies."""


class AutomationProver(BaseProver):
    """Proves with ``rfl``, ``simp_all``, ``omega``, ``decide``, ``grind`` and short combinations.

    It needs no model and is deterministic. Its proofs pass the same search and full verification as
    a model's, so that results are comparable.

    Args:
        config: Limits of the search.
    """

    @property
    def generator(self) -> Self:
        """The generator of tactics: itself."""
        return self

    def generate(
        self,
        goals: Sequence[str],
        *,
        num_samples: int,
        premises: Sequence[Sequence[str]] = (),  # noqa: ARG002 - automation knows its own
    ) -> list[list[Suggestion]]:
        """Return the first ``num_samples`` tactics for every goal."""
        return [list(SUGGESTIONS[:num_samples]) for _ in goals]

    def generate_whole_proof(self, theorem: Theorem | str) -> str:  # noqa: ARG002 - one for all
        """Write ``first | rfl | …``: the first of the tactics that closes the goal."""
        return "\n".join(["intros", f"first | {' | '.join(CLOSERS)}"])
