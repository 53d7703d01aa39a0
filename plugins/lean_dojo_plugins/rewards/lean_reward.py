"""Base class of rewards that use Lean: engines, judgements and metrics."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import Scores, completion_texts
from lean_dojo_plugins.rewards.replay import StateSpec
from lean_dojo_plugins.rewards.shares import MEANS, counted, shares
from lean_dojo_plugins.rewards.whole_proofs import TheoremSpec
from lean_dojo_v2 import fields
from lean_dojo_v2.fields import about, setting
from lean_dojo_v2.lean.client.environments import EnvironmentCounts
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.selection import EngineName
from lean_dojo_v2.lean.errors import EngineKilledError, EngineLostError
from lean_dojo_v2.lean.pool.local import shared_engines
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict

_log = logging.getLogger(__name__)

Spec: TypeAlias = StateSpec | TheoremSpec
"""The place at which a completion is judged."""
Question: TypeAlias = tuple[Spec, str]
"""A place, and the completion to judge there."""

ENVIRONMENT_HITS = "lean/environment_hits"
"""Metric: share of the headers whose environment an engine of this process had loaded."""
CALLS, SECONDS = "lean/calls", "lean/seconds"
"""Metrics: the reward's requests to engines and their working seconds, per completion."""
SHOWN = 200
"""Characters shown of an example."""


@attrs.define(eq=False, slots=False)
class LeanReward(ABC):
    """A reward that has Lean judge each completion once, on shared engines.

    Engines start when first needed, in each process, and are shared by all rewards with the same
    configuration; one that dies is replaced. Those of the last ``kept_projects`` repositories stay
    open. It is safe to use from several threads.
    """

    name: ClassVar[str]
    """Its name in messages."""
    wanted: ClassVar[str]
    """What a completion should be, for messages."""
    needs: ClassVar[tuple[str, ...]]
    """The columns that every row must have."""
    formatter: ClassVar[str]
    """A dataset formatter that gives them."""
    judge: ClassVar[staticmethod[[Server, Any, tuple[str, ...], float], list[TacticOutcome]]]
    """Judges several completions at one place on an engine, with a limit in seconds for each."""

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
        self._known: Kept[TacticOutcome] = Kept(self.cache_size)
        self._said: set[str] = set()
        self._counter = EnvironmentCounts()  # engines are shared with other rewards
        self._spent = EnvironmentCounts()  # as of the previous batch

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the settings; engines and judgements belong to their process."""
        return {a.name: getattr(self, a.name) for a in attrs.fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __call__(
        self,
        completions: Sequence[Any],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Scores:
        """Score a batch.

        Args:
            completions: Tactics or proofs, as texts or as TRL's message lists.
            log_metric: TRL's function for further metrics.
            **columns: The columns of the formatter.

        Returns:
            One number or ``None`` per completion.

        Raises:
            UsageError: If a column is missing that the reward needs.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        questions = self._questions(completions, columns)
        before = attrs.evolve(self._counter)
        judgements = self._judged(questions)
        self._say_new(questions, judgements)
        if log_metric is not None and questions:
            for name, share in shares(judgements).items():
                log_metric(name, share)
            now = attrs.evolve(self._counter)
            since, self._spent = now - self._spent, now
            log_metric(CALLS, since.requests / len(questions))
            log_metric(SECONDS, since.seconds / len(questions))
            if (hit_rate := (now - before).hit_rate) is not None:
                log_metric(ENVIRONMENT_HITS, hit_rate)
        return [self.score(judgement) for judgement in judgements]

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[TacticOutcome]:
        """Return the judgement of each completion, for listings; raises as a call does."""
        return self._judged(self._questions(completions, columns))

    @abstractmethod
    def score(self, judgement: TacticOutcome) -> float | None:
        """Return the reward of a judgement."""

    @abstractmethod
    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        """Return the question about a completion."""

    def _questions(self, completions: Sequence[Any], columns: Mapping[str, Any]) -> list[Question]:
        if missing := [name for name in self.needs if columns.get(name) is None]:
            raise UsageError(
                f"{self.name} needs the column {missing[0]!r} with each completion; the formatter "
                f"{self.formatter!r} gives it"
            )
        texts = completion_texts(completions)
        rows = rows_of(columns, len(texts))
        return [self._question(row, text) for row, text in zip(rows, texts, strict=True)]

    def _judged(self, questions: Sequence[Question]) -> list[TacticOutcome]:
        """Judge each question once; what is not known goes to the engines, one request a place."""
        found: dict[Question, TacticOutcome] = {}
        unknown: dict[Spec, list[str]] = {}
        for spec, text in dict.fromkeys(questions):
            if (known := self._known.known((spec, text))) is not None:
                found[spec, text] = known
            else:
                unknown.setdefault(spec, []).append(text)
        asked = {
            spec: self._engines.submit(
                spec.project,
                self._counter.counting()(self.judge),
                spec,
                tuple(texts),
                self.timeout,
                header=spec.header,
                name=spec.goal[:80],
                owner=spec.owner,
            )
            for spec, texts in unknown.items()
        }
        for spec, future in asked.items():
            try:
                for text, outcome in zip(unknown[spec], future.result(), strict=True):
                    self._known[spec, text] = found[spec, text] = outcome
            except (EngineLostError, EngineKilledError, CancelledError) as error:
                # A state that cost every engine its life cannot be judged.
                why = str(error) or "the engines were closed before this was checked"
                lost = TacticOutcome(Verdict.UNOPENED, detail=why)
                found.update({(spec, text): lost for text in unknown[spec]})
        return [found[question] for question in questions]

    def _say_new(self, questions: Sequence[Question], judgements: Sequence[TacticOutcome]) -> None:
        """Log, once per kind, what says nothing about a tactic at the traced state."""
        for (spec, text), judgement in zip(questions, judgements, strict=True):
            unread = judgement.verdict is Verdict.UNPARSED
            example = text[:SHOWN] if unread else spec.goal[-SHOWN:]
            fails = f": {judgement.detail}" if judgement.verdict is Verdict.UNOPENED else ""
            for name in counted(judgement):
                means = MEANS.get(name)
                if name.startswith("lean/unparsed/"):
                    means = f"this is not {self.wanted}"
                if means is not None and name not in self._said:
                    self._said.add(name)
                    _log.warning(
                        "%s: %s (%s counts these), first for %r%s",
                        self.name, means, name, example, fails,
                    )  # fmt: skip

    def close(self) -> None:
        """Release the engines, which other rewards may share; the next call starts new ones."""
        self._engines.close()


def rows_of(columns: Mapping[str, Any], length: int) -> list[dict[str, Any]]:
    """Return each completion's row of the columns; other arguments are left out."""
    lists = {
        name: values
        for name, values in columns.items()
        if isinstance(values, Sequence) and not isinstance(values, str) and len(values) == length
    }
    return [{name: values[i] for name, values in lists.items()} for i in range(length)]
