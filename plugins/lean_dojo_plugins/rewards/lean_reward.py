"""Base class of rewards that use Lean: engines, judgements and metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

import attrs

from lean_dojo_plugins.rewards.adapter import Scores
from lean_dojo_plugins.rewards.judging import CachedJudge, Question
from lean_dojo_plugins.rewards.shares import shares
from lean_dojo_plugins.rewards.tally import UnparsedTally
from lean_dojo_v2 import fields
from lean_dojo_v2.fields import about, setting
from lean_dojo_v2.lean.client.environments import EnvironmentCounter, EnvironmentCounts
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.selection import EngineName
from lean_dojo_v2.lean.pool.shared import shared_engines
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome

Given = ParamSpec("Given")
T = TypeVar("T")

ENVIRONMENT_HITS = "lean/environment_hits"
"""Metric: share of the headers whose environment an engine of this process had loaded."""
CALLS, SECONDS = "lean/calls", "lean/seconds"
"""Metrics: the reward's requests to engines and their working seconds, per completion."""


@attrs.define(eq=False, slots=False)
class LeanReward(ABC):
    """A reward that has Lean judge each completion once, on shared engines.

    Engines start when first needed, in each process, and are shared by all rewards with the same
    configuration; one that dies is replaced. Those of the last ``kept_projects`` repositories stay
    open.
    """

    name: ClassVar[str]
    """Its name in messages."""
    wanted: ClassVar[str]
    """What a completion should be, for messages."""
    judge: ClassVar[staticmethod[[Server, Any, tuple[str, ...], float], list[TacticOutcome]]]
    """Judges completions on an engine."""

    timeout: float = setting(60.0, "Seconds that Lean may take for one proof.", fields.positive)
    engines: int | None = setting(
        None, "Lean engines per process; null: one per core.", fields.positive_int_or_none
    )
    engine: EngineName = setting("auto", "auto, native or embedded.")
    projects: Mapping[str, Path] = attrs.field(
        factory=dict,
        converter=fields.folders,
        metadata=about("Folder of each repository, by address."),
    )
    cache_size: int = setting(100_000, "Judgements kept.", fields.positive_int)
    kept_projects: int = setting(
        2, "Maximum number of repositories whose engines stay open.", fields.positive_int
    )

    def __attrs_post_init__(self) -> None:
        self._start()

    def _start(self, imports: tuple[str, ...] = ("Init",)) -> None:
        self._engines = shared_engines(
            engine=self.engine, imports=imports, size=self.engines, kept=self.kept_projects
        )
        self._judge = CachedJudge(self._engines, self.cache_size, self._counted(type(self).judge))
        self._tally = UnparsedTally(self.name, self.wanted)
        self._counter = EnvironmentCounter()  # engines are shared with other rewards
        self._spent = EnvironmentCounts()  # as of the previous batch

    def _counted(self, ask: Callable[Given, T]) -> Callable[Given, T]:
        """Count the requests of a function as this reward's."""

        def counted(*args: Given.args, **kwargs: Given.kwargs) -> T:
            with self._counter.counting():
                return ask(*args, **kwargs)

        return counted

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the settings; engines and judgements belong to their process."""
        return {a.name: getattr(self, a.name) for a in attrs.fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __call__(
        self,
        completions: Sequence[Any],
        problem: Sequence[str] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Scores:
        """Score a batch.

        Args:
            completions: Tactics or proofs, as texts or as TRL's message lists.
            problem: The goal or the statement of each.
            log_metric: TRL's function for further metrics.
            **columns: The other columns of the formatter.

        Returns:
            One number or ``None`` per completion.

        Raises:
            UsageError: If a column is missing that the reward needs.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        questions = self._questions(completions, problem, columns)
        before = self._counter.counts()
        judgements = self._judge.judgements(questions, self.timeout)
        self._tally.count(questions, judgements)
        if log_metric is not None and questions:
            for name, share in self._metrics(questions, judgements).items():
                log_metric(name, share)
            now = self._counter.counts()
            since, self._spent = now - self._spent, now
            log_metric(CALLS, since.requests / len(questions))
            log_metric(SECONDS, since.seconds / len(questions))
            if (hit_rate := (now - before).hit_rate) is not None:
                log_metric(ENVIRONMENT_HITS, hit_rate)
        return [self.score(judgement) for judgement in judgements]

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[TacticOutcome]:
        """Return the judgement of each completion, for listings; raises as a call does."""
        questions = self._questions(completions, columns.pop("problem", None), columns)
        return self._judge.judgements(questions, self.timeout)

    @abstractmethod
    def score(self, judgement: TacticOutcome) -> float | None:
        """Return the reward of a judgement."""

    @abstractmethod
    def _questions(
        self, completions: Sequence[Any], problem: Sequence[str] | None, columns: Mapping[str, Any]
    ) -> list[Question]:
        """Return the question about each completion.

        Raises:
            UsageError: If a column is missing.
        """

    def _metrics(
        self,
        questions: Sequence[Question],  # noqa: ARG002 - for subclasses
        judgements: Sequence[TacticOutcome],
    ) -> dict[str, float]:
        """Return the metrics of a batch."""
        return shares(judgements)

    def close(self) -> None:
        """Release the engines, which other rewards may share; the next call starts new ones."""
        self._engines.close()


def rows_of(columns: Mapping[str, Any], length: int) -> list[dict[str, Any]]:
    """Return each completion's row of the columns; other arguments are left out."""
    lists = {
        name: values
        for name, values in columns.items()
        if isinstance(values, (list, tuple)) and len(values) == length
    }
    return [{name: values[i] for name, values in lists.items()} for i in range(length)]
