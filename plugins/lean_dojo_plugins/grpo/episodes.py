"""Whole proofs as episodes, played step by step at the states that Lean returns.

For each theorem a group of proofs is played from its first goal. A proof that passes full
verification earns 1; other rewards add their mean over the proof's steps. A proof's advantage over
its group is the advantage of all its steps (Shao et al. 2024, arXiv:2402.03300). A group in which
all or none succeed teaches nothing and is replaced by one of another theorem, a limited number of
times (dynamic sampling; DAPO, Yu et al. 2025, arXiv:2503.14476).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.tactics import check_tactic
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.tracing import LeanGitRepo

Tokens: TypeAlias = list[int]
Sampled: TypeAlias = tuple[Tokens, Tokens, str, "list[float] | None"]
"""Tokens of the prompt and of the tactic, its text, and its tokens' log-probabilities from vLLM."""
StepKey: TypeAlias = tuple[int, int, int]
"""The row of a step's theorem, its episode, and its number in it."""
Sampler: TypeAlias = Callable[[Sequence[str], Sequence[StepKey]], list[Sampled]]
"""Samples one tactic at each state."""


@lru_cache(maxsize=256)
def _folder(url: str, commit: str) -> Path:
    return LeanGitRepo(url, commit).path


@attrs.frozen
class EpisodeLimits:
    """Limits of an episode: counts, and a time limit as a safety net.

    Attributes:
        steps: Maximum number of tactics per proof.
        replacements: How often the groups that teach nothing are replaced in a batch.
        heartbeats: Lean heartbeats that one tactic may use.
        tactic_seconds: Seconds that Lean may take for one tactic.
    """

    steps: int = 8
    replacements: int = 2
    heartbeats: int | None = 20_000
    tactic_seconds: float = 60.0


@attrs.frozen
class PlayedStep:
    """A step of an episode: the state as Lean prints it, and the sampled tactic, also as tokens."""

    state: str
    prompt: Tokens
    completion: Tokens
    tactic: str
    logprobs: list[float] | None = None


@attrs.define(eq=False)
class Episode:
    """One proof attempt."""

    steps: list[PlayedStep] = attrs.Factory(list)
    proved: bool = False
    """Whether it ended in a proof that passed full verification."""
    over: bool = False
    """Whether it has ended."""

    @property
    def tactics(self) -> tuple[str, ...]:
        """Its tactics."""
        return tuple(step.tactic for step in self.steps)


@attrs.define(eq=False)
class Group:
    """The episodes of one theorem, with its row."""

    row: Mapping[str, Any]
    episodes: list[Episode]
    ended_by_clock: int = 0
    """Number of tactics ended by a limit in seconds."""

    @property
    def proved(self) -> int:
        """Number of episodes that ended in a proof."""
        return sum(episode.proved for episode in self.episodes)

    @property
    def teaches(self) -> bool:
        """Whether some of its episodes succeed, and some do not."""
        return 0 < self.proved < len(self.episodes)


class _TheoremStates:
    """The states of one theorem that its episodes have reached, by their tactics."""

    def __init__(self, problem: TheoremProblem, server: Server, limits: EpisodeLimits) -> None:
        self._problem = problem
        self._server = server
        self._limits = limits
        self._outcomes: dict[tuple[str, ...], TacticOutcome] = {}
        self._proofs: dict[tuple[str, ...], bool] = {}
        self._root: GoalState | None = None
        self.ended_by_clock = 0

    def state(self, tactics: tuple[str, ...]) -> str:
        """Print the state that these tactics reached."""
        return str(self._state(tactics))

    def reached(self, episode: Episode) -> str | None:
        """Print the state that an episode reached; if it is lost for good, end the episode."""
        try:
            return self.state(episode.tactics)
        except LeanError:  # the engine was lost, and its tactics cannot be replayed
            episode.over = True
            return None

    def play(self, episode: Episode, step: PlayedStep) -> None:
        """Play a step, which may end the episode."""
        before = episode.tactics
        episode.steps.append(step)
        if not step.tactic:  # unfinished or empty
            episode.over = True
            return
        outcome = self._outcome(before, step.tactic)
        if outcome.state is None:
            episode.over = True
        elif outcome.verdict is Verdict.SOLVED:
            episode.over = True
            episode.proved = self._passes((*before, step.tactic))

    def _outcome(self, before: tuple[str, ...], tactic: str) -> TacticOutcome:
        key = (*before, tactic)
        if key not in self._outcomes:
            try:
                self._outcomes[key] = check_tactic(
                    self._server,
                    self._state(before),
                    tactic,
                    own_names=self._problem.own_names,
                    heartbeats=self._limits.heartbeats,
                    timeout=self._limits.tactic_seconds,
                )
            except LeanError as error:  # its engine was lost, and its tactics cannot be replayed
                self._outcomes[key] = TacticOutcome(Verdict.FAILED, detail=str(error))
            found = self._outcomes[key]
            self.ended_by_clock += found.verdict is Verdict.TIMED_OUT and not found.engine_died
        return self._outcomes[key]

    def _state(self, tactics: tuple[str, ...]) -> GoalState:
        if not tactics:
            if self._root is None or not self._server.holds(self._root):
                self._root = self._problem.open(self._server)
            return self._root
        state = self._outcomes[tactics].state
        assert state is not None
        if not self._server.holds(state):  # lost with its engine
            limit = self._limits.heartbeats
            state = self._server.goal_tactic(
                self._state(tactics[:-1]),
                tactics[-1],
                Site(0, auto_resume=True),
                options=None if limit is None else {"maxHeartbeats": limit},
                timeout=self._limits.tactic_seconds,
            )
            self._outcomes[tactics] = attrs.evolve(self._outcomes[tactics], state=state)
        return state

    def _passes(self, tactics: tuple[str, ...]) -> bool:
        if tactics not in self._proofs:
            try:
                proof = "\n".join(tactics)
                self._proofs[tactics] = self._problem.check(self._server, proof).valid
            except LeanError:
                self._proofs[tactics] = False
        return self._proofs[tactics]


class EpisodeRunner:
    """Plays episodes, with engines that stay open until :meth:`close`.

    Args:
        limits: What an episode may spend.
        engines: Engines for each repository.
        projects: Folders of repositories by address; others are taken from where they were traced.
    """

    def __init__(self, limits: EpisodeLimits, engines: int, projects: Mapping[str, Path]) -> None:
        self.limits = limits
        self._engines = engines
        self._projects = projects
        self._stack = ExitStack()
        self._lanes: dict[Path, list[tuple[Server, ThreadPoolExecutor]]] = {}
        self._next = itertools.count()

    def close(self) -> None:
        """Stop the engines."""
        self._lanes.clear()
        self._stack.close()

    def play(
        self, rows: Sequence[Mapping[str, Any]], size: int, sample: Sampler
    ) -> list[Group | None]:
        """Play a group of ``size`` episodes for each theorem.

        Rows have ``url``, ``commit``, ``file_path``, ``full_name``, ``start`` and ``end``.

        Returns:
            The group of each theorem; ``None`` for one that cannot be opened.
        """
        tables = self._open(rows)
        groups = {
            number: Group(rows[number], [Episode() for _ in range(size)]) for number in tables
        }
        for step in range(self.limits.steps):
            going_on = [
                (lane, table, episode, (number, place, step))
                for number, (table, lane) in tables.items()
                for place, episode in enumerate(groups[number].episodes)
                if not episode.over
            ]
            reached = self._in_lanes(
                [(lane, table.reached, (episode,)) for lane, table, episode, _ in going_on]
            )
            pairs = zip(reached, going_on, strict=True)
            asked = [(state, one) for state, one in pairs if state is not None]
            if not asked:
                break
            sampled = sample([state for state, _ in asked], [one[-1] for _, one in asked])
            self._in_lanes(
                [
                    (lane, table.play, (episode, PlayedStep(state, *found)))
                    for (state, (lane, table, episode, _)), found in zip(
                        asked, sampled, strict=True
                    )
                ]
            )
        for number, (table, _) in tables.items():
            groups[number].ended_by_clock = table.ended_by_clock
            if not all(episode.steps for episode in groups[number].episodes):
                del groups[number]
        return [groups.get(number) for number in range(len(rows))]

    @staticmethod
    def _in_lanes(work: Sequence[tuple[ThreadPoolExecutor, Callable[..., Any], Any]]) -> list[Any]:
        """Run work in the threads of its engines; return the results in order."""
        futures = [lane.submit(fn, *args) for lane, fn, args in work]
        return [future.result() for future in futures]

    def _open(
        self, rows: Sequence[Mapping[str, Any]]
    ) -> dict[int, tuple[_TheoremStates, ThreadPoolExecutor]]:
        """Open theorems; return those that can be opened, by their place in ``rows``."""
        made = []
        for row in rows:
            server, lane = self._lane(self._project(row))
            table = _TheoremStates(self._problem(row), server, self.limits)
            made.append((table, lane, lane.submit(table.state, ())))
        found = {}
        for number, (table, lane, opened) in enumerate(made):
            with suppress(LeanError):
                opened.result()
                found[number] = table, lane
        return found

    def _project(self, row: Mapping[str, Any]) -> Path:
        folder = self._projects.get(row["url"])
        return _folder(row["url"], row["commit"]) if folder is None else Path(folder)

    def _problem(self, row: Mapping[str, Any]) -> TheoremProblem:
        text = read_source(self._project(row) / row["file_path"])
        start, end = tuple(row["start"]), tuple(row["end"])
        return TheoremProblem(SourceTheorem(text, row["full_name"], row["file_path"], start, end))

    def _lane(self, project: Path) -> tuple[Server, ThreadPoolExecutor]:
        """Return the engines of a project in turn."""
        if project not in self._lanes:
            self._lanes[project] = [
                (
                    self._stack.enter_context(self.open_engine(project)),
                    self._stack.enter_context(ThreadPoolExecutor(1)),
                )
                for _ in range(self._engines)
            ]
        lanes = self._lanes[project]
        return lanes[next(self._next) % len(lanes)]

    def open_engine(self, project: Path) -> Any:
        """Open an engine for a Lean project; it starts at its first call."""
        return Server(project_path=project, start=False)
