"""Which state a dataset row speaks of, and how an engine gets there."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import LeanDojoError, LeanError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, EngineUnavailableError, RequestError
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.advance import judge_step
from lean_dojo_v2.lean.verify.goal_text import GoalTextError, canonical, parse_state
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.points import ProofPoint, goal_point, theorem_point
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.tracing import LeanGitRepo

_log = logging.getLogger(__name__)
MAX_PLACES = 20
"""Places of a proof that are tried for one state."""


@attrs.frozen
class Replay:
    """What an exact replay needs besides the goal's text.

    Attributes:
        url: The repository.
        commit: Its commit.
        file_path: The theorem's file.
        full_name: The theorem.
        start: Where it starts.
        end: Where it ends.
        tactic: The tactic that its own proof plays there.
        position: Where that tactic starts, if the row says so.
    """

    url: str
    commit: str
    file_path: str
    full_name: str
    start: Position
    end: Position
    tactic: str
    position: Position | None = None


@attrs.frozen
class StateSpec:
    """A state to check tactics at; equal specs are the same state.

    Attributes:
        goal: The state as Lean printed it.
        project: The repository's folder, if it is known.
        replay: What a replay needs; ``None`` if only the text is there.
    """

    goal: str
    project: Path | None = None
    replay: Replay | None = None

    @property
    def header(self) -> str | None:
        """Requests with equal headers share what an engine has elaborated."""
        return None if self.replay is None else f"{self.project}/{self.replay.file_path}"

    @property
    def owner(self) -> str | None:
        """Whose texts it stands in: an engine that has run their programs serves nobody else."""
        return None if self.project is None else str(self.project)

    def open(self, server: Server) -> ProofPoint:
        """Open the state: by replay where that is possible, else from its text.

        Raises:
            LeanError: If neither works.
            EngineLostError: If the engine died or the time was up.
        """
        if self.replay is None or self.project is None:
            return goal_point(server, self.goal)
        try:
            return self._replayed(server, self.replay, self.project)
        except EngineLostError:
            raise
        except (LeanError, OSError, UnicodeDecodeError) as error:
            try:
                return goal_point(server, self.goal)
            except GoalTextError as second:
                raise LeanError(f"{error}; nor from its text: {second}") from error

    def _replayed(self, server: Server, replay: Replay, project: Path) -> ProofPoint:
        text = read_source(project / replay.file_path)
        source = SourceTheorem(text, replay.full_name, replay.file_path, replay.start, replay.end)
        traced = parse_state(self.goal)
        if not traced:
            raise GoalTextError("the state has no goals")
        said = ""
        for place in _places(source, replay):
            try:
                point = theorem_point(server, source, place)
            except RequestError as error:  # for example, no tactic is there
                said = f" ({error})"
                continue
            # What counts is the state: the text of a tactic may stand in several places, also in
            # such where nothing is open.
            goals = point.state.goals
            if goals and canonical(goals[0]) == canonical(traced[0]):
                return point
        raise LeanError(
            f"{replay.file_path}:{replay.start[0]}: {replay.full_name} no longer reaches the "
            f"traced state; trace it again{said}"
        )


def _places(source: SourceTheorem, replay: Replay) -> list[Position]:
    """Where the tactic may stand; split files do not say, so its text is looked for."""
    if replay.position is not None:
        return [replay.position]
    return source.occurrences(replay.tactic)[:MAX_PLACES]


def spec_of(row: Mapping[str, Any], projects: Mapping[str, Path]) -> StateSpec:
    """Read the state of a dataset row.

    Args:
        row: Has ``problem``; with the columns of the ``tactic-prompt`` formatter, the state can be
            replayed.
        projects: Folders of repositories by their address; others are looked for where tracing
            puts them.
    """
    goal = str(row["problem"])
    start, end, position = (_place(row.get(name)) for name in ("start", "end", "position"))
    names = [row.get(name) for name in ("url", "commit", "file_path", "full_name", "tactic")]
    if start is None or end is None or any(name is None for name in names):
        return StateSpec(goal)
    url, commit, file_path, full_name, tactic = map(str, names)
    project = project_of_row(url, commit, projects)
    if project is None:
        return StateSpec(goal)
    replay = Replay(url, commit, file_path, full_name, start, end, tactic, position)
    return StateSpec(goal, project, replay)


def project_of_row(url: str, commit: str, projects: Mapping[str, Path]) -> Path | None:
    """Find a repository's folder: the one that is named, or where tracing puts it."""
    return projects.get(url) or _checkout(url, commit)


def _place(value: Any) -> Position | None:
    return (int(value[0]), int(value[1])) if value else None


@lru_cache(maxsize=256)
def _checkout(url: str, commit: str) -> Path | None:
    """Find a repository's folder; without it, goals are read from their text, and that is said."""
    try:
        return LeanGitRepo(url, commit).path
    except LeanDojoError as error:
        _log.warning(
            "%s at %s is not available (%s); its goals are opened from their text, which fails if "
            "they use the repository's own definitions",
            url,
            commit[:12],
            error,
        )
        return None


@attrs.frozen
class Judgement:
    """The outcome of one tactic at one state.

    Attributes:
        verdict: The verdict; ``None`` if the state cannot be opened.
        reason: Why it was refused, for a refusal.
        detail: What Lean said.
    """

    verdict: Verdict | None
    reason: Reason | None = None
    detail: str = ""


def judge(
    server: Server, spec: StateSpec, tactics: tuple[str, ...], timeout: float
) -> list[Judgement]:
    """Check several tactics at one state, opening it as seldom as possible.

    Lean may take ``timeout`` seconds for each. A tactic that kills two engines is judged so; the
    next one is tried on another engine.

    Raises:
        EngineLostError: If the state itself cost the engine its life.
    """
    point: ProofPoint | None = None
    found: list[Judgement] = []
    again = False
    while len(found) < len(tactics):
        if point is None or not server.holds(point.state):
            try:
                point = spec.open(server)
            except (EngineLostError, EngineUnavailableError):
                raise
            except LeanError as error:
                left = len(tactics) - len(found)
                return found + [Judgement(None, detail=str(error))] * left
        outcome = judge_step(server, point, tactics[len(found)], timeout=timeout)
        if outcome.engine_died and not again:  # perhaps by no fault of the tactic's
            again = True
            continue
        again = False
        reason = None if outcome.refusal is None else outcome.refusal.reason
        found.append(Judgement(outcome.verdict, reason, outcome.detail))
    return found


def warm_up(server: Server, spec: StateSpec) -> bool:
    """Open a state and let it go, so that an engine is up and has its file's context loaded.

    Returns:
        Whether it can be opened.
    """
    try:
        spec.open(server)
    except (EngineLostError, EngineUnavailableError):
        raise
    except LeanError:
        return False
    return True
