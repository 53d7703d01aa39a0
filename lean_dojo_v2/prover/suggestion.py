"""What a proof search needs of models: tactics with log-probabilities, premises, progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.records import Position


class GeneratorError(LeanDojoError):
    """A generator failed on one batch; it may answer the next."""


@attrs.define
class Patience:
    """Tells occasional failures of a generator from a generator that does not work.

    Attributes:
        failures: Failures since the last answer. One that fails at first will never work, so it
            starts one short of the limit.
    """

    failures: int = 2

    def answered(self) -> None:
        """Note an answer."""
        self.failures = 0

    def failed(self, error: GeneratorError) -> None:
        """Note a failure; raise it where it is the third in a row, or the very first request."""
        self.failures += 1
        if self.failures >= 3:
            raise error


@attrs.frozen
class Place:
    """Where something is proved, which decides the premises it may use.

    Attributes:
        file_path: The file, relative to its repository.
        start: Where the theorem starts in it.
    """

    file_path: str
    start: Position


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
    """Proposes next tactics for many goals at once.

    One that draws them at random takes ``seeds: Sequence[int] = ()`` as well, a seed for each goal,
    and gives the same tactics for the same goal and seed whatever else is in the batch. One whose
    ``generate`` has no such parameter is asked without.
    """

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

        Raises:
            GeneratorError: If it has no answer to this batch; the search goes on without.
        """


class PremiseSource(Protocol):
    """Finds premises that may help with goals."""

    def retrieve(self, goals: Sequence[str], places: Sequence[Place | None]) -> list[list[str]]:
        """Return the texts of premises for each goal, most relevant first.

        Args:
            goals: States as Lean prints them; one batch.
            places: Where each is proved; ``None`` for all premises.
        """


class Step(NamedTuple):
    """A tactic that Lean accepted, with the states around it, as Lean prints them.

    Attributes:
        before: The state before it.
        prefix: The tactics before it, one a line.
        tactic: The tactic.
        after: The state that it leaves; empty if that is not known.
    """

    before: str
    prefix: str
    tactic: str
    after: str = ""


class ProgressEstimator(Protocol):
    """Says how far a state is from the end of its proof.

    A progress model gives the steps that remain (LeanProgress, Huang et al. 2025,
    arXiv:2502.17925).
    """

    def predict(self, steps: Sequence[Step]) -> list[float]:
        """Estimate for each step how far the state after it is from the end, at least 0."""
