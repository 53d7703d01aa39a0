"""Base class of rewards that use Lean: engines, judgements and metrics."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import Scores, completion_texts
from lean_dojo_plugins.rewards.rows import Fallback, RowTask, rows_of
from lean_dojo_v2 import lean
from lean_dojo_v2.settings import about, fields, setting

_log = logging.getLogger(__name__)
a_number = fields.must_be("a number", fields.is_number)
SHOWN = 200
"""Characters shown of an example."""
Question: TypeAlias = tuple[RowTask, str]
"""A place, and the completion to judge there."""
_FALLBACKS = {
    Fallback.NO_DIGEST: "the data has no digest of the state, so the replayed one is compared by "
    "its text",
    Fallback.NO_PLACE: "the row does not name its theorem, so its state is opened from its text",
    Fallback.NO_REPOSITORY: "the repository's folder does not exist, so the state is opened from "
    "its text",
    Fallback.NO_REPLAY: "Lean cannot replay the proof up to there, so the state is opened from its "
    "text",
    Fallback.ANOTHER_STATE: "that place of the proof has another state, so the traced one is "
    "opened from its text",
}
_MEANS = {"lean/unopened": "the reward does not apply"} | {
    f"lean/{kind}/{why}": text
    for kind in ("fallback", "unopened")
    for why, text in _FALLBACKS.items()
}
"""What the user should hear of the shares that tell nothing of the model."""
NOT_A_TACTIC = "not-a-tactic"
"""A reason besides those of ``MALFORMED``: Lean's own parser refuses the text."""
_SHARES = (
    *("lean/verified", "lean/solved", "lean/unproven", "lean/failed", "lean/unparsed"),
    *("lean/refused", "lean/timed_out", "lean/unopened"),
    *(f"lean/refused/{reason}" for reason in lean.Reason if reason not in lean.MALFORMED_REASONS),
    *(f"lean/unparsed/{reason}" for reason in lean.Reason if reason in lean.MALFORMED_REASONS),
    f"lean/unparsed/{NOT_A_TACTIC}",
    "lean/fallback",
    *(f"lean/{kind}/{why}" for kind in ("fallback", "unopened") for why in Fallback),
)
"""Always logged: a name absent from some batches would be averaged over the others only."""


def _counted(judgement: lean.TacticOutcome) -> tuple[str, ...]:
    """Return the names of the shares in which a completion counts."""
    verdict, why = judgement.verdict, judgement.fallback
    names = [f"lean/{verdict}"]  # of these, "advanced" is no metric of its own
    if judgement.advances:
        names.append("lean/verified")
    if verdict in {lean.Verdict.UNPARSED, lean.Verdict.REFUSED}:
        names.append(f"lean/{verdict}/{judgement.reason or NOT_A_TACTIC}")
    if why is not None and verdict is lean.Verdict.UNOPENED:
        names.append(f"lean/unopened/{why}")
    elif why is not None:
        names += ["lean/fallback", f"lean/fallback/{why}"]
    return tuple(names)


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
    judge: ClassVar[
        staticmethod[[lean.Server, Any, tuple[str, ...], float], list[lean.TacticOutcome]]
    ]
    """Judges several completions at one place on an engine, with a limit in seconds for each."""

    timeout: float = setting(60.0, "Seconds that Lean may take for one proof.", fields.positive)
    engines: int | None = setting(
        None, "Lean engines per process; null: one per core.", fields.positive_int_or_none
    )
    engine: lean.EngineName = setting("auto", "auto, native or embedded.")
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
        self.lean = lean.shared_engines(
            engine=self.engine, imports=imports, size=self.engines, kept=self.kept_projects
        )
        self._known: lean.LRUCache[lean.TacticOutcome] = lean.LRUCache(self.cache_size)
        self._said: set[str] = set()
        self._counter = lean.EnvironmentCounts()  # engines are shared with other rewards
        self._spent = lean.EnvironmentCounts()  # as of the previous batch

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
        """Score a batch: one number or ``None`` per completion, a text or TRL's message list.

        The columns are the formatter's; ``log_metric`` is TRL's function for further metrics.
        ``UsageError`` if a column is missing, ``EngineUnavailableError`` if no engine can serve it.
        """
        questions = self._questions(completions, columns)
        before = attrs.evolve(self._counter)
        judgements = self._judged(questions)
        self._say_new(questions, judgements)
        if log_metric is not None and questions:
            counts = Counter(name for judgement in judgements for name in _counted(judgement))
            for name in _SHARES:
                log_metric(name, counts[name] / len(judgements))
            now = attrs.evolve(self._counter)
            since, self._spent = now - self._spent, now
            log_metric("lean/calls", since.requests / len(questions))
            log_metric("lean/seconds", since.seconds / len(questions))
            if (hit_rate := (now - before).hit_rate) is not None:
                log_metric("lean/environment_hits", hit_rate)
        return [self.score(judgement) for judgement in judgements]

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[lean.TacticOutcome]:
        """Return the judgement of each completion, for listings; raises as a call does."""
        return self._judged(self._questions(completions, columns))

    @abstractmethod
    def score(self, judgement: lean.TacticOutcome) -> float | None:
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

    def _judged(self, questions: Sequence[Question]) -> list[lean.TacticOutcome]:
        """Judge each question once; what is not known goes to the engines, one request a place."""
        found: dict[Question, lean.TacticOutcome] = {}
        unknown: dict[RowTask, list[str]] = {}
        for task, text in dict.fromkeys(questions):
            if (known := self._known.get((task, text))) is not None:
                found[task, text] = known
            else:
                unknown.setdefault(task, []).append(text)
        asked = {
            task: self._submit(self.judge, task, tuple(texts), self.timeout)
            for task, texts in unknown.items()
        }
        for task, future in asked.items():
            try:
                for text, outcome in zip(unknown[task], future.result(), strict=True):
                    self._known[task, text] = found[task, text] = outcome
            except (lean.EngineLostError, lean.EngineKilledError, CancelledError) as error:
                # A state that cost every engine its life cannot be judged.
                why = str(error) or "the engines were closed before this was checked"
                lost = lean.TacticOutcome(lean.Verdict.UNOPENED, detail=why)
                found.update({(task, text): lost for text in unknown[task]})
        return [found[question] for question in questions]

    def _submit(self, fn: Callable[..., Any], task: RowTask, *args: Any) -> Any:
        """Queue ``fn(server, task, *args)`` with the engines of its place."""
        return task.submit(self.lean, self._counter.counting()(fn), *args)

    def _say_new(
        self, questions: Sequence[Question], judgements: Sequence[lean.TacticOutcome]
    ) -> None:
        """Log, once per kind, what says nothing about a tactic at the traced state."""
        for (task, text), judgement in zip(questions, judgements, strict=True):
            unread = judgement.verdict is lean.Verdict.UNPARSED
            example = text[:SHOWN] if unread else task.goal[-SHOWN:]
            fails = f": {judgement.detail}" if judgement.verdict is lean.Verdict.UNOPENED else ""
            for name in _counted(judgement):
                means = _MEANS.get(name)
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
        self.lean.close()
