"""Interfaces between proof search and models: tactics, premises, progress."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.records import Position


class GeneratorError(LeanDojoError):
    """A generator failed on one batch; it may answer the next."""


@attrs.define
class Patience:
    """Distinguishes occasional failures of a generator from a broken one.

    Attributes:
        failures: Failures since the last answer. It starts one short of the limit, since a
            generator that fails at first will never work.
    """

    failures: int = 2

    def answered(self) -> None:
        """Record an answer."""
        self.failures = 0

    def failed(self, error: GeneratorError) -> None:
        """Record a failure; raise it if it is the third in a row, or on the first request."""
        self.failures += 1
        if self.failures >= 3:
            raise error


@attrs.frozen
class Place:
    """The place of a theorem, which determines its accessible premises.

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

    Two further parameters are optional. A random generator takes ``seeds: Sequence[int] = ()``, a
    seed for each goal, and returns the same tactics for the same goal and seed whatever the batch.
    One that can stop early takes ``words: Sequence[TacticWords | None] = ()``, what tactics may
    begin with at each goal, and leaves out what begins otherwise.
    """

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        """Sample tactics for each goal, in any order, possibly none; duplicates may be merged.

        The goals are states as Lean prints them, one batch; for each there are the texts of
        retrieved premises, if any. A ``GeneratorError`` fails this batch; the search continues.
        """


class PremiseSource(Protocol):
    """Finds premises that may help with goals."""

    def retrieve(self, goals: Sequence[str], places: Sequence[Place | None]) -> list[list[str]]:
        """Return the texts of premises for each goal, most relevant first.

        The goals are states as Lean prints them, one batch; without a place, all premises count.
        """


class Step(NamedTuple):
    """A tactic that Lean accepted, with the states around it, as Lean prints them.

    Attributes:
        before: The state before it.
        prefix: The tactics before it, one a line.
        tactic: The tactic.
        after: The state that it leaves; empty if unknown.
    """

    before: str
    prefix: str
    tactic: str
    after: str = ""


class ProgressEstimator(Protocol):
    """Estimates how far a state is from the end of its proof.

    A progress model gives the steps that remain (LeanProgress, Huang et al. 2025,
    arXiv:2502.17925).
    """

    def predict(self, steps: Sequence[Step]) -> list[float]:
        """Estimate for each step how far the state after it is from the end, at least 0."""
