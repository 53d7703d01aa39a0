"""The reward that asks Lean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import Scores, completion_texts
from lean_dojo_plugins.rewards.judging import CachedJudge, Question
from lean_dojo_plugins.rewards.replay import Judgement, StateSpec, judge, spec_of, warm_up
from lean_dojo_plugins.rewards.shares import shares
from lean_dojo_plugins.rewards.tally import UnparsedTally
from lean_dojo_v2.lean.engines.selection import EngineName
from lean_dojo_v2.lean.pool.shared import shared_engines
from lean_dojo_v2.prover.completions import answer_of


def _score(default: float, text: str) -> Any:
    return attrs.field(default=default, converter=float, metadata={"help": text})


def _names(value: Sequence[str]) -> tuple[str, ...]:
    return tuple(value)


def _paths(projects: Mapping[str, str | Path]) -> dict[str, Path]:
    return {url: Path(path) for url, path in projects.items()}


@attrs.define(eq=False, slots=False)
class PantographVerified:
    """+1 for a tactic through which Lean has closed the whole proof; nothing else pays.

    A completion is checked at the very state of its row: the theorem is replayed from its file to
    that tactic, without itself in scope; rows without that information are opened from the goal's
    text. A tactic *advances* if Lean can finish the proof from there by less than it takes from
    the state before: by fewer tactics of the traced proof's end, or by a lower rung of a fixed
    ladder of closing tactics (:mod:`lean_dojo_v2.lean.verify.advance`). ``sorry`` in any spelling,
    native code, metaprograms, options and the theorem itself are refused as cheating.

    Equal tactics at equal states are checked once. Engines start when first needed, in each
    process, and are shared by all rewards that ask for the same ones; one that dies costs its
    tactic the reward and is replaced. Those of the last ``kept_projects`` repositories stay open.
    Where a state cannot be opened the reward does not apply (``None``).

    Logs to TRL's metrics which share of a batch met which end, ``lean/verified`` first, the
    refusals by reason, and ``lean/fallback`` by reason: where the state is not known to be the very
    one that was traced (:mod:`lean_dojo_plugins.rewards.shares`); ``lean/unverified`` is the share
    that an engine judged which cannot make every check (``allow_unverified``). The log says how
    many completions were not one tactic, for which reasons, with an example.

    Thoughts (``<think>…</think>``) are no part of a completion.
    """

    advanced: float = _score(1.0, "Reward of a tactic that leads nearer to a proof.")
    solved: float = _score(1.0, "Reward of a tactic that leaves no goal at all.")
    unproven: float = _score(0.0, "Reward of a tactic that is not known to lead nearer to a proof.")
    failed: float = _score(0.0, "Reward of a tactic that Lean refuses.")
    unparsed: float = _score(0.0, "Reward of a text that is not one tactic.")
    refused: float = _score(-1.0, "Reward of cheating.")
    timed_out: float = _score(0.0, "Reward of a tactic that takes too long or kills its engine.")
    timeout: float = attrs.field(
        default=10.0, metadata={"help": "Time limit for one call of Lean, in seconds."}
    )
    engines: int | None = attrs.field(
        default=None, metadata={"help": "Lean engines per process; null: one per core."}
    )
    engine: EngineName = attrs.field(default="auto", metadata={"help": "auto, native or embedded."})
    imports: tuple[str, ...] = attrs.field(
        default=("Init",),
        converter=_names,
        metadata={"help": "Modules to import for goals opened from text."},
    )
    projects: Mapping[str, Path] = attrs.field(
        factory=dict, converter=_paths, metadata={"help": "Folder of each repository, by address."}
    )
    allow_unverified: bool = attrs.field(
        default=False,
        metadata={"help": "Also judge with an engine that cannot make every check of a tactic."},
    )
    cache_size: int = attrs.field(default=100_000, metadata={"help": "Judgements kept."})
    kept_projects: int = attrs.field(
        default=2, metadata={"help": "Maximum number of repositories whose engines stay open."}
    )

    def __attrs_post_init__(self) -> None:
        if not self.timeout > 0:
            raise UsageError(f"timeout must be a positive number of seconds, not {self.timeout}")
        for name in ("engines", "kept_projects", "cache_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
        self._start()

    def _start(self) -> None:
        self._engines = shared_engines(
            engine=self.engine, imports=self.imports, size=self.engines, kept=self.kept_projects
        )
        self._judge = CachedJudge(self._engines, self.cache_size, judge)
        self._tally = UnparsedTally("pantograph-verified", "one tactic")
        self._unverified: dict[Path | None, tuple[str, ...]] = {}

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
            completions: Tactics, as texts or as TRL's message lists.
            problem: The goal of each.
            log_metric: TRL's function for further metrics.
            **columns: The other columns; those of the ``tactic-prompt`` formatter allow replay.

        Returns:
            One number or ``None`` per completion.

        Raises:
            UsageError: If there is no column ``problem``.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        questions = self._questions(completions, problem, columns)
        judgements = self._judge.judgements(questions, self.timeout)
        self._tally.count(questions, judgements)
        if log_metric is not None and questions:
            for name, share in shares(judgements).items():
                log_metric(name, share)
            unverified = sum(bool(self._unverified[spec.project]) for spec, _ in questions)
            log_metric("lean/unverified", unverified / len(questions))
        return [self.score(judgement) for judgement in judgements]

    def prefetch(
        self, completions: Sequence[Any], problem: Sequence[str] | None = None, **columns: Any
    ) -> None:
        """Let the engines begin with a batch that is going to be scored.

        Raises:
            UsageError: If there is no column ``problem``.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        self._judge.ask(self._questions(completions, problem, columns), self.timeout)

    def warm_up(self, problem: Sequence[str] | None = None, **columns: Any) -> None:
        """Let the engines load what these states need, while tactics for them are still written.

        Raises:
            EngineUnavailableError: If no Lean engine can serve this.
        """
        specs = self._specs(problem or (), columns)
        self._look_at_engines(specs)
        for spec in dict.fromkeys(specs):
            self._engines.submit(spec.project, warm_up, spec, header=spec.header, owner=spec.owner)

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[Judgement]:
        """Return what Lean said of each completion, for listings.

        Raises:
            UsageError: If there is no column ``problem``.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        questions = self._questions(completions, columns.pop("problem", None), columns)
        return self._judge.judgements(questions, self.timeout)

    def score(self, judgement: Judgement) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is None:
            return None
        return float(getattr(self, judgement.verdict.value))

    def close(self) -> None:
        """Release the engines, which other rewards may share; the next call starts new ones."""
        self._engines.close()

    def _questions(
        self,
        completions: Sequence[Any],
        problem: Sequence[str] | None,
        columns: Mapping[str, Any],
    ) -> list[Question]:
        if problem is None:
            raise UsageError(
                "pantograph-verified needs the column 'problem' with each completion's goal; the "
                "formatter 'tactic-prompt' gives it"
            )
        texts = completion_texts(completions)
        specs = self._specs(problem, columns)
        self._look_at_engines(specs)
        return [(spec, answer_of(text).strip()) for spec, text in zip(specs, texts, strict=True)]

    def _look_at_engines(self, specs: Sequence[StateSpec]) -> None:
        """Refuse engines that cannot make every check, unless they are allowed.

        Raises:
            UsageError: If there is one.
        """
        for project in dict.fromkeys(spec.project for spec in specs):
            if project not in self._unverified:
                self._unverified[project] = self._engines.unverified(project)
            if self._unverified[project] and not self.allow_unverified:
                what = ", ".join(self._unverified[project])
                raise UsageError(
                    f"pantograph-verified: the engine of {project or 'this machine'} cannot "
                    f"check {what}. Set engine=embedded, or allow_unverified=true: a step still "
                    "pays only where the finished proof passes the whole check"
                )

    def _specs(self, problem: Sequence[str], columns: Mapping[str, Any]) -> list[StateSpec]:
        lists = {k: v for k, v in columns.items() if _is_column(v, len(problem))}
        rows = (
            {"problem": goal, **{name: values[i] for name, values in lists.items()}}
            for i, goal in enumerate(problem)
        )
        return [spec_of(row, self.projects) for row in rows]


def _is_column(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length
