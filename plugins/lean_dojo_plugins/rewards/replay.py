"""The state of a dataset row, and its replay on an engine."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineLostError,
    EngineUnavailableError,
    LeanError,
    RequestError,
)
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.advance import judge_step
from lean_dojo_v2.lean.verify.goal_text import GoalTextError, reads_as
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.points import ProofPoint, goal_point, theorem_point
from lean_dojo_v2.lean.verify.states import recorded
from lean_dojo_v2.tracing import LeanGitRepo

_log = logging.getLogger(__name__)
MAX_PLACES = 20
"""Maximum number of places of a proof tried for one state."""


class Fallback(StrEnum):
    """Why a state is not, or not known to be, the traced one; the values are logged."""

    NO_DIGEST = "no-digest"
    NO_PLACE = "no-place"
    NO_REPOSITORY = "no-repository"
    NO_REPLAY = "no-replay"
    ANOTHER_STATE = "another-state"


class _UnopenedError(LeanError):
    """A state cannot be opened, neither by replay nor from its text."""

    def __init__(self, message: str, why: Fallback) -> None:
        super().__init__(message)
        self.why = why


class _AnotherStateError(LeanError):
    """The place of a proof exists, but has another state."""


@attrs.frozen
class Replay:
    """Data for an exact replay.

    Attributes:
        file_path: The theorem's file.
        full_name: The theorem.
        start: Where it starts.
        end: Where it ends.
        tactic: The tactic of its own proof at that place.
        position: Where that tactic starts, if recorded.
        digest: Digest of the first goal there, if recorded.
    """

    file_path: str
    full_name: str
    start: Position
    end: Position
    tactic: str
    position: Position | None = None
    digest: str | None = None


@attrs.frozen
class StateSpec:
    """A state to check tactics at; equal specs are the same state.

    Attributes:
        goal: The state as Lean printed it.
        project: The repository's folder, if known.
        replay: Data for a replay; ``None`` if there is only the text.
    """

    goal: str
    project: Path | None = None
    replay: Replay | None = None

    @property
    def header(self) -> str | None:
        """Requests with equal headers share what an engine has elaborated."""
        if self.replay is None or self.project is None:
            return None
        return f"{self.project}/{self.replay.file_path}"

    @property
    def owner(self) -> str | None:
        """The owner of its texts: an engine that has run their programs serves nobody else."""
        return None if self.project is None else str(self.project)

    def open(self, server: Server) -> tuple[ProofPoint, Fallback | None]:
        """Open the state: by replay if possible, else from its text.

        Returns:
            The point, and why it is not known to be the traced state.

        Raises:
            LeanError: If neither works.
            EngineLostError: If the engine died or the time was up.
        """
        if self.replay is None or self.project is None:
            why = Fallback.NO_PLACE if self.replay is None else Fallback.NO_REPOSITORY
            return self._from_text(server, why)
        try:
            point = self._replayed(server, self.replay, self.project)
        except (EngineLostError, EngineUnavailableError):
            raise
        except _AnotherStateError as error:
            return self._from_text(server, Fallback.ANOTHER_STATE, f"{error}; nor from its text: ")
        except (LeanError, OSError, UnicodeDecodeError) as error:
            return self._from_text(server, Fallback.NO_REPLAY, f"{error}; nor from its text: ")
        return point, None if self.replay.digest is not None else Fallback.NO_DIGEST

    def _from_text(
        self, server: Server, why: Fallback, said: str = ""
    ) -> tuple[ProofPoint, Fallback]:
        try:
            return goal_point(server, self.goal), why
        except GoalTextError as error:
            raise _UnopenedError(f"{said}{error}", why) from error

    def _replayed(self, server: Server, replay: Replay, project: Path) -> ProofPoint:
        text = read_source(project / replay.file_path)
        source = SourceTheorem(text, replay.full_name, replay.file_path, replay.start, replay.end)
        said, reached = "", False
        for place in _places(source, replay):
            try:
                point = theorem_point(server, source, place)
            except RequestError as error:  # for example, no tactic is there
                said = f" ({error})"
                continue
            # Compare states, since a tactic's text may occur in several places, even where nothing
            # is open.
            if self._is_at(point, replay.digest):
                return point
            reached = True
        kind = _AnotherStateError if reached else LeanError
        raise kind(
            f"{replay.file_path}:{replay.start[0]}: {replay.full_name} no longer reaches the "
            f"traced state; trace it again{said}"
        )

    def _is_at(self, point: ProofPoint, digest: str | None) -> bool:
        if digest is None:
            return reads_as(point.state, self.goal)
        return bool(point.digest.each) and recorded(point.digest.each[0]) == digest


def _places(source: SourceTheorem, replay: Replay) -> list[Position]:
    """Return possible positions of the tactic; split files have none, so its text is searched."""
    if replay.position is not None:
        return [replay.position]
    return source.occurrences(replay.tactic)[:MAX_PLACES]


def spec_of(row: Mapping[str, Any], projects: Mapping[str, Path]) -> StateSpec:
    """Read the state of a dataset row.

    Args:
        row: Has ``problem``; with the columns of the ``tactic-prompt`` formatter, the state can be
            replayed.
        projects: Folders of repositories by their address; others are looked up where tracing
            puts them.
    """
    goal = str(row["problem"])
    start, end, position = (position_of(row.get(name)) for name in ("start", "end", "position"))
    names = [row.get(name) for name in ("url", "commit", "file_path", "full_name", "tactic")]
    if start is None or end is None or any(name is None for name in names):
        return StateSpec(goal)
    url, commit, file_path, full_name, tactic = map(str, names)
    digest = None if row.get("digest") is None else str(row["digest"])
    replay = Replay(file_path, full_name, start, end, tactic, position, digest)
    return StateSpec(goal, projects.get(url) or checkout(url, commit), replay)


def position_of(value: Any) -> Position | None:
    """Read a 1-based line and column from a dataset's row."""
    return (int(value[0]), int(value[1])) if value else None


@lru_cache(maxsize=256)
def checkout(url: str, commit: str) -> Path | None:
    """Find a repository's folder where tracing puts it; warn if it is missing."""
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


def judge(
    server: Server, spec: StateSpec, tactics: tuple[str, ...], timeout: float
) -> list[TacticOutcome]:
    """Check several tactics at one state, opening it as seldom as possible.

    Lean has ``timeout`` seconds for each. A tactic that kills two engines is judged ``timed_out``;
    the next one is tried on another engine.

    Raises:
        EngineLostError: If opening the state kills the engine.
    """
    point: ProofPoint | None = None
    fallback: Fallback | None = None
    found: list[TacticOutcome] = []
    again = False
    while len(found) < len(tactics):
        if point is None or not server.holds(point.state):
            try:
                point, fallback = spec.open(server)
            except (EngineLostError, EngineUnavailableError):
                raise
            except LeanError as error:
                left = len(tactics) - len(found)
                why = error.why if isinstance(error, _UnopenedError) else Fallback.NO_REPLAY
                lost = TacticOutcome(Verdict.UNOPENED, detail=str(error), fallback=why)
                return found + [lost] * left
        outcome = judge_step(server, point, tactics[len(found)], timeout=timeout)
        if outcome.engine_died and not again:  # perhaps not the tactic's fault
            again = True
            continue
        again = False
        # An outcome that is kept must not hold on to its state in the engine.
        found.append(attrs.evolve(outcome, state=None, fallback=fallback))
    return found
