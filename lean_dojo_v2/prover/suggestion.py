"""What a proof search needs of models: tactics with log-probabilities, premises, progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs


@attrs.frozen
class Suggestion:
    """A tactic that a model proposes.

    Attributes:
        tactic: Its text, one line.
        logprob: Natural logarithm of its probability under the model, summed over its tokens.
        tokens: Number of tokens that it has, with its end.
    """

    tactic: str
    logprob: float
    tokens: int = 1


class TacticGenerator(Protocol):
    """Proposes next tactics for many goals at once."""

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        """Sample tactics.

        Args:
            goals: States as Lean prints them; one batch.
            num_samples: Tactics to sample for each goal; duplicates may be merged.
            premises: For each goal the texts of retrieved premises; empty for none.

        Returns:
            For each goal its suggestions, in any order; possibly none.
        """


class PremiseSource(Protocol):
    """Finds premises that may help with goals."""

    def retrieve(self, goals: Sequence[str], *, file_path: str | None) -> list[list[str]]:
        """Give the texts of premises for each goal, most relevant first.

        Args:
            goals: States as Lean prints them.
            file_path: The file that is being proved in, which decides what is accessible; ``None``
                for all premises.
        """


class ProgressEstimator(Protocol):
    """Predicts how many steps remain (LeanProgress, Huang et al. 2025, arXiv:2502.17925)."""

    def predict(self, items: Sequence[tuple[str, str, str]]) -> list[float]:
        """Estimate for each ``(goal, prefix, tactic)`` the steps that remain after the tactic.

        Args:
            items: The state, the tactics so far (one a line), and the candidate tactic.
        """
