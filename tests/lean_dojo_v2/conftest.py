"""A generator that proposes what it is told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from lean_dojo_v2.prover.suggestion import Suggestion

Proposals = Sequence[tuple[str, float]]


class Scripted:
    """Proposes tactics by a word that the state holds; it keeps what it was asked.

    Args:
        proposals: Tactics with log-probabilities, for every state that holds the key.
    """

    def __init__(self, proposals: Mapping[str, Proposals]) -> None:
        self.proposals = proposals
        self.batches: list[list[str]] = []
        self.samples: set[int] = set()
        self.premises: list[Sequence[Sequence[str]]] = []

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        self.batches.append(list(goals))
        self.samples.add(num_samples)
        self.premises.append(premises)
        return [
            [
                Suggestion(tactic, logprob)
                for key, tactics in self.proposals.items()
                if key in goal
                for tactic, logprob in tactics
            ][:num_samples]
            for goal in goals
        ]

    @property
    def states(self) -> list[str]:
        """Every state it was asked about, in order."""
        return [goal for batch in self.batches for goal in batch]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted
