"""The reward that asks Lean."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import Scores, completion_texts
from lean_dojo_plugins.rewards.replay import Judgement, StateSpec, judge, spec_of, warm_up
from lean_dojo_v2.lean.checking import Verdict
from lean_dojo_v2.lean.errors import EngineKilledError, EngineLostError
from lean_dojo_v2.lean.pool import EnginePool, PoolConfig
from lean_dojo_v2.lean.screening import Reason

_Key: TypeAlias = tuple[StateSpec, str]
_Source: TypeAlias = Judgement | tuple[Future[list[Judgement]], int]

MALFORMED = frozenset({
    Reason.EMPTY, Reason.TOO_LONG, Reason.SEVERAL_LINES, Reason.COMMENT, Reason.NESTING,
    Reason.CONTROL_CHARACTER, Reason.HUGE_NUMERAL, Reason.SEARCH,
})  # fmt: skip
"""Refusals of texts that are no tactic; they score as ``unparsed``, not as cheating."""


def _score(default: float, text: str) -> Any:
    return attrs.field(default=default, converter=float, metadata={"help": text})


def _names(value: Sequence[str]) -> tuple[str, ...]:
    return tuple(value)


def _paths(projects: Mapping[str, str | Path]) -> dict[str, Path]:
    return {url: Path(path) for url, path in projects.items()}


@attrs.define(eq=False, slots=False)
class PantographVerified:
    """+1 for a tactic that Lean accepts and that advances the proof state; nothing else pays.

    A completion is checked at the very state of its row: the theorem is replayed from its file to
    that tactic, without itself in scope; rows without that information are opened from the goal's
    text. A tactic *advances* if it closes the proof, or if no goal that it leaves is as hard as the
    one it acted on, judged strictly (:mod:`lean_dojo_v2.lean.advance`). ``sorry`` in any spelling,
    native code, metaprograms, options and the theorem itself are refused as cheating.

    Equal tactics at equal states are checked once. Engines start when first needed, in each
    process; one that dies costs its tactic the reward and is replaced. Those of the last
    ``kept_projects`` repositories stay open. Where a state cannot be opened the reward does not
    apply (``None``).

    Logs the shares ``lean/verified``, ``lean/solved``, ``lean/refused`` and ``lean/unopened`` to
    TRL's metrics.
    """

    advanced: float = _score(1.0, "Reward of a tactic that advances the state.")
    solved: float = _score(1.0, "Reward of a tactic that leaves no goal at all.")
    no_advance: float = _score(0.0, "Reward of a tactic that changes nothing of substance.")
    failed: float = _score(0.0, "Reward of a tactic that Lean refuses.")
    unparsed: float = _score(0.0, "Reward of a text that is not one tactic.")
    refused: float = _score(-1.0, "Reward of cheating.")
    timed_out: float = _score(0.0, "Reward of a tactic that takes too long or kills its engine.")
    timeout: float = attrs.field(default=10.0, metadata={"help": "Seconds for one tactic."})
    engines: int | None = attrs.field(
        default=None, metadata={"help": "Lean engines per process; one for each core if not given."}
    )
    engine: str = attrs.field(default="auto", metadata={"help": "auto, native or embedded."})
    imports: tuple[str, ...] = attrs.field(
        default=("Init",),
        converter=_names,
        metadata={"help": "Modules for goals opened from text."},
    )
    projects: Mapping[str, Path] = attrs.field(
        factory=dict, converter=_paths, metadata={"help": "Folders of repositories by address."}
    )
    cache_size: int = attrs.field(default=100_000, metadata={"help": "Judgements kept."})
    kept_projects: int = attrs.field(
        default=2, metadata={"help": "Repositories whose engines stay open at a time."}
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
        self._known: OrderedDict[_Key, Judgement] = OrderedDict()
        self._pending: dict[_Key, tuple[Future[list[Judgement]], int]] = {}
        self._pools: OrderedDict[Path | None, EnginePool] = OrderedDict()
        self._lock = threading.Lock()

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
        keys = self._keys(completions, problem, columns)
        judgements = self._judge(keys)
        if log_metric is not None and keys:
            for name, share in shares(judgements).items():
                log_metric(name, share)
        return [self.score(judgement) for judgement in judgements]

    def prefetch(
        self, completions: Sequence[Any], problem: Sequence[str] | None = None, **columns: Any
    ) -> None:
        """Let the engines begin with a batch that is going to be scored."""
        self._submit(self._keys(completions, problem, columns))

    def warm_up(self, problem: Sequence[str] | None = None, **columns: Any) -> None:
        """Let the engines load what these states need, while tactics for them are still written."""
        specs = self._specs(problem or (), columns)
        with self._lock:
            for spec in dict.fromkeys(specs):
                self._pool(spec.project).submit(warm_up, spec, header=spec.header)

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[Judgement]:
        """Give what Lean said of each completion, for listings."""
        return self._judge(self._keys(completions, columns.pop("problem", None), columns))

    def score(self, judgement: Judgement) -> float | None:
        """Give the reward of a judgement."""
        if judgement.verdict is None:
            return None
        if judgement.verdict is Verdict.REFUSED and judgement.reason in MALFORMED:
            return self.unparsed
        return {
            Verdict.ADVANCED: self.advanced,
            Verdict.SOLVED: self.solved,
            Verdict.NO_ADVANCE: self.no_advance,
            Verdict.FAILED: self.failed,
            Verdict.UNPARSED: self.unparsed,
            Verdict.REFUSED: self.refused,
            Verdict.TIMED_OUT: self.timed_out,
            Verdict.ENGINE_DIED: self.timed_out,
        }[judgement.verdict]

    def close(self) -> None:
        """Stop the engines; the next call starts others."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()

    def _keys(
        self,
        completions: Sequence[Any],
        problem: Sequence[str] | None,
        columns: Mapping[str, Any],
    ) -> list[_Key]:
        if problem is None:
            raise UsageError(
                "pantograph-verified needs the column 'problem' with each completion's goal; the "
                "formatter 'tactic-prompt' gives it"
            )
        texts = completion_texts(completions)
        specs = self._specs(problem, columns)
        return [(spec, text.strip()) for spec, text in zip(specs, texts, strict=True)]

    def _specs(self, problem: Sequence[str], columns: Mapping[str, Any]) -> list[StateSpec]:
        lists = {k: v for k, v in columns.items() if _is_column(v, len(problem))}
        rows = (
            {"problem": goal, **{name: values[i] for name, values in lists.items()}}
            for i, goal in enumerate(problem)
        )
        return [spec_of(row, self.projects) for row in rows]

    def _judge(self, keys: Sequence[_Key]) -> list[Judgement]:
        sources = self._submit(keys)
        return [_settled(sources[key]) for key in keys]

    def _submit(self, keys: Sequence[_Key]) -> dict[_Key, _Source]:
        """Send what is neither known nor under way to the engines, one request a state.

        Returns:
            For each key its judgement, or where it is going to be.
        """
        sources: dict[_Key, _Source] = {}
        wanted: dict[StateSpec, list[str]] = {}
        with self._lock:
            for key in dict.fromkeys(keys):
                if key in self._known:
                    self._known.move_to_end(key)
                    sources[key] = self._known[key]
                elif key in self._pending:
                    sources[key] = self._pending[key]
                else:
                    wanted.setdefault(key[0], []).append(key[1])
            for spec, tactics in wanted.items():
                future = self._pool(spec.project).submit(
                    judge,
                    spec,
                    tuple(tactics),
                    self.timeout,
                    header=spec.header,
                    name=spec.goal[:80],
                )
                for index, tactic in enumerate(tactics):
                    self._pending[spec, tactic] = sources[spec, tactic] = (future, index)
        for spec, tactics in wanted.items():
            future = self._future(sources[spec, tactics[0]])
            future.add_done_callback(partial(self._file, spec, tactics))
        return sources

    @staticmethod
    def _future(source: _Source) -> Future[list[Judgement]]:
        assert isinstance(source, tuple)
        return source[0]

    def _file(
        self, spec: StateSpec, tactics: Sequence[str], future: Future[list[Judgement]]
    ) -> None:
        """Keep what a request found."""
        failed = future.cancelled() or future.exception() is not None
        with self._lock:
            for index, tactic in enumerate(tactics):
                self._pending.pop((spec, tactic), None)
                if not failed:
                    self._known[spec, tactic] = future.result()[index]
            while len(self._known) > self.cache_size:
                self._known.popitem(last=False)

    def _pool(self, project: Path | None) -> EnginePool:
        if project not in self._pools:
            while len(self._pools) >= self.kept_projects and self._close_idle():
                continue
            settings: dict[str, Any] = {
                "engine": self.engine,
                "project_path": project,
                "imports": self.imports,
            }
            if self.engines is not None:
                settings["size"] = self.engines
            config = PoolConfig(**settings)
            self._pools[project] = EnginePool(config)
        self._pools.move_to_end(project)
        return self._pools[project]

    def _close_idle(self) -> bool:
        """Close the engines of the repository that was asked for longest ago, unless they work."""
        busy = {spec.project for spec, _ in self._pending}
        for project in self._pools:
            if project not in busy:
                self._pools.pop(project).close()
                return True
        return False


def _settled(source: _Source) -> Judgement:
    """Wait for a judgement; a state that cost every engine its life cannot be judged."""
    if isinstance(source, Judgement):
        return source
    future, index = source
    try:
        return future.result()[index]
    except (EngineLostError, EngineKilledError) as error:
        return Judgement(None, detail=str(error))


def _is_column(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length


def shares(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Give the shares of a batch that are logged.

    >>> shares([Judgement(Verdict.SOLVED), Judgement(Verdict.FAILED)])["lean/verified"]
    0.5
    """
    counts = Counter(judgement.verdict for judgement in judgements)
    cheats = sum(j.verdict is Verdict.REFUSED and j.reason not in MALFORMED for j in judgements)
    total = max(1, len(judgements))
    return {
        "lean/verified": (counts[Verdict.ADVANCED] + counts[Verdict.SOLVED]) / total,
        "lean/solved": counts[Verdict.SOLVED] / total,
        "lean/refused": cheats / total,
        "lean/unopened": counts[None] / total,
    }
