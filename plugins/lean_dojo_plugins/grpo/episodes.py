"""Whole proofs as episodes, played step by step at the states that Lean returns.

For each theorem a group of proofs is played from its first goal. A proof that passes full
verification earns 1; other rewards add their mean over the proof's steps. A proof's advantage over
its group is the advantage of all its steps (Shao et al. 2024, arXiv:2402.03300). A group in which
all or none succeed teaches nothing and is replaced by one of another theorem, a limited number of
times (dynamic sampling; DAPO, Yu et al. 2025, arXiv:2503.14476).
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_plugins.rewards import AdaptedReward
from lean_dojo_v2 import lean
from lean_dojo_v2.prover import PlayedTactic, TheoremProblem, begin_play, play_tactic
from lean_dojo_v2.tracing import LeanGitRepo

Tokens: TypeAlias = list[int]
Sampled: TypeAlias = tuple[Tokens, Tokens, str, "list[float] | None"]
"""Tokens of the prompt and of the tactic, its text, and its tokens' log-probabilities from vLLM."""
StepKey: TypeAlias = tuple[int, int, int]
"""The row of a step's theorem, its episode, and its number in it."""
Sampler: TypeAlias = Callable[[Sequence[str], Sequence[StepKey]], list[Sampled]]
"""Samples one tactic at each state."""

WHOLE_PROOF = "whole-proof"
OPEN_REPOSITORIES = 8
"""Number of repositories whose engines stay open."""
HEARTBEATS = 20_000
"""Lean heartbeats that one tactic may use."""


def whole_proof_reward() -> AdaptedReward:
    """Make the reward of an episode: 1 at every step of a proof that passed full verification."""

    def whole_proof(proved: Sequence[bool], **_: Any) -> list[float]:
        return [float(one) for one in proved]

    return AdaptedReward(whole_proof, WHOLE_PROOF, "lean-dojo-v2", columns=("proved",))


@lru_cache(maxsize=256)
def _folder(url: str, commit: str) -> Path:
    return LeanGitRepo(url, commit).path


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
    """One proof attempt, ``proved`` if it ended in a proof that passed full verification."""

    state: str  # that it has reached, as Lean prints it
    steps: list[PlayedStep] = attrs.Factory(list)
    over: bool = False
    proved: bool = False

    @property
    def tactics(self) -> tuple[str, ...]:
        """Its tactics."""
        return tuple(step.tactic for step in self.steps)


@attrs.define(eq=False)
class Group:
    """The episodes of one theorem, of the repository in the folder ``project``."""

    project: Path
    problem: TheoremProblem
    episodes: list[Episode] = attrs.Factory(list)
    ended_by_clock: int = 0  # tactics ended by a limit in seconds

    @property
    def proved(self) -> int:
        """Number of episodes that ended in a proof."""
        return sum(episode.proved for episode in self.episodes)

    @property
    def teaches(self) -> bool:
        """Whether some of its episodes succeed, and some do not."""
        return 0 < self.proved < len(self.episodes)


class EpisodeRunner:
    """Plays episodes of at most ``steps`` tactics; its engines stay open until :meth:`close`.

    ``projects`` are folders of repositories by address; others are taken from where they were
    traced.
    """

    tactic_seconds = 60.0
    """Seconds that Lean may take for one tactic: a safety net, beside the heartbeats."""

    def __init__(self, steps: int, engines: int, projects: Mapping[str, Path]) -> None:
        self.steps = steps
        self._engines = lean.shared_engines(size=engines, kept=OPEN_REPOSITORIES)
        self._projects = projects

    def close(self) -> None:
        """Stop the engines."""
        self._engines.close()

    def play(
        self, rows: Sequence[Mapping[str, Any]], size: int, sample: Sampler
    ) -> list[Group | None]:
        """Return a group of ``size`` episodes for each theorem; ``None`` if it cannot be opened.

        Rows have ``url``, ``commit``, ``file_path``, ``full_name``, ``start`` and ``end``.
        """
        made = [self._group(row) for row in rows]
        opened = [self._submit(group, begin_play) for group in made]
        groups = {}
        for number, (group, future) in enumerate(zip(made, opened, strict=True)):
            if (state := _answer(future)) is not None:
                group.episodes = [Episode(state) for _ in range(size)]
                groups[number] = group
        for step in range(self.steps):
            going_on = [
                (group, episode, (number, place, step))
                for number, group in groups.items()
                for place, episode in enumerate(group.episodes)
                if not episode.over
            ]
            if not going_on:
                break
            sampled = sample(
                [episode.state for _, episode, _ in going_on], [key for *_, key in going_on]
            )
            for (_, episode, _), found in zip(going_on, sampled, strict=True):
                episode.steps.append(PlayedStep(episode.state, *found))
            self._advance([(group, episode) for group, episode, _ in going_on])
        return [groups.get(number) for number in range(len(rows))]

    def _advance(self, going_on: Sequence[tuple[Group, Episode]]) -> None:
        """Play the last tactic of each episode; equal ones after equal tactics once."""
        run = partial(play_tactic, heartbeats=HEARTBEATS, timeout=self.tactic_seconds)
        asked: dict[tuple[Group, tuple[str, ...]], Future[PlayedTactic]] = {}
        for group, episode in going_on:
            move = group, episode.tactics
            if move[1][-1] and move not in asked:  # empty: unfinished, or nothing was written
                asked[move] = self._submit(group, run, move[1][:-1], move[1][-1])
        outcomes = {move: _answer(future) for move, future in asked.items()}
        for (group, _), outcome in outcomes.items():
            group.ended_by_clock += (
                outcome is not None and outcome.verdict is lean.Verdict.TIMED_OUT
            )
        for group, episode in going_on:
            outcome = outcomes.get((group, episode.tactics))
            if outcome is None or not outcome.accepted or outcome.finished:
                episode.over = True
                episode.proved = outcome is not None and outcome.valid
            else:
                episode.state = outcome.state

    def _group(self, row: Mapping[str, Any]) -> Group:
        project = Path(self._projects.get(row["url"]) or _folder(row["url"], row["commit"]))
        file, start, end = row["file_path"], tuple(row["start"]), tuple(row["end"])
        source = lean.SourceTheorem(
            lean.read_source(project / file), row["full_name"], file, start, end
        )
        return Group(project, TheoremProblem(source))

    def _submit(self, group: Group, fn: Callable[..., Any], *args: Any) -> Future[Any]:
        """Queue ``fn(server, problem, *args)`` for a group's theorem."""
        source = group.problem.source
        return self._engines.submit(
            group.project,
            fn,
            group.problem,
            *args,
            header=f"{group.project}/{source.file_path}",
            name=source.full_name,
            owner=str(group.project),
        )


def _answer(future: Future[Any]) -> Any:
    """Return an engine's answer; ``None`` for a theorem that Lean cannot open, or that kills it."""
    try:
        return future.result()
    except lean.EngineUnavailableError:
        raise
    except lean.LeanError:
        return None
