"""From a row of a dataset to its problem in Lean: its project, its text, and its state."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar, TypeVarTuple

import attrs

from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_core.records import BenchmarkProblem, Position
from lean_dojo_v2 import lean
from lean_dojo_v2.benchmarks import problem_of
from lean_dojo_v2.tracing import LeanGitRepo

Ts = TypeVarTuple("Ts")
R = TypeVar("R")
_log = logging.getLogger(__name__)
MAX_PLACES = 20
"""Maximum number of places of a proof tried for one state."""
_NAME_WIDTH = 80


@attrs.frozen(kw_only=True)
class RowTask(ABC):
    """What a row asks for: a tactic at a state, or a proof of a theorem. Equal ones are the same.

    Attributes:
        goal: The state as Lean printed it, or the theorem's name.
        project: Folder of its Lean project; ``None`` for Lean alone.
        header: Requests with equal headers share what an engine has elaborated.
        owner: The owner of its texts, who alone shares the memory of an engine; see ``EnginePool``.
    """

    goal: str
    project: Path | None = None
    header: str | None = None
    owner: str | None = None

    @property
    @abstractmethod
    def own_names(self) -> tuple[str, ...]:
        """Names of its theorem, which a proof must not cite: the full one and its endings."""

    @abstractmethod
    def open(self, server: lean.Server) -> lean.GoalState:
        """Open its state in an engine of its project, or raise ``LeanError``.

        That is an ``EngineLostError`` if the engine died or the time was up.
        """

    def submit(
        self, engines: lean.SharedEngines, fn: Callable[[lean.Server, Self, *Ts], R], /, *args: *Ts
    ) -> Future[R]:
        """Queue ``fn(server, problem, *args)`` with engines of its project, in its owner's name.

        The engines are, for example, ``shared_engines()``, or ``lean`` of a GRPO trainer; ``fn``
        runs in the thread of one, which it has for itself. ``EngineUnavailableError`` if none can
        serve its project.
        """
        return engines.submit(
            self.project,
            fn,
            self,
            *args,
            header=self.header,
            name=self.goal[:_NAME_WIDTH],
            owner=self.owner,
        )


def problem_of_row(
    row: Mapping[str, Any], projects: Mapping[str, Path] | None = None
) -> "RowState | RowTheorem":
    """Return what a row asks for, for rows of the formatters of tactics and of whole proofs.

    A row of ``tactic-prompt`` is a :class:`RowState`, as is one with ``problem`` alone. A row of
    ``whole-proof``, or of ``grpo``'s ``statements``, is a :class:`RowTheorem`. ``projects`` are
    folders of repositories by address; others are taken from where they were traced. A row without
    ``problem`` is a ``UsageError``.
    """
    if row.get("problem") is None:
        raise UsageError(
            "the row has no column 'problem', a state or a statement; the formatters "
            "'tactic-prompt' and 'whole-proof' give it"
        )
    if row.get("full_name") is None or row.get("tactic") is not None:
        return state_of_row(row, projects or {})
    return theorem_of_row(row, projects or {})


class Fallback(StrEnum):
    """Why a state is not, or not known to be, the traced one; the values are logged."""

    NO_DIGEST = "no-digest"
    NO_PLACE = "no-place"
    NO_REPOSITORY = "no-repository"
    NO_REPLAY = "no-replay"
    ANOTHER_STATE = "another-state"


class UnopenedError(lean.LeanError):
    """A state cannot be opened by replay, or in no way at all."""

    def __init__(self, message: str, why: Fallback) -> None:
        super().__init__(message)
        self.why = why


@attrs.frozen
class Replay:
    """The place of a theorem, and of a tactic of its proof, for an exact replay."""

    file_path: str
    full_name: str
    start: Position
    end: Position
    tactic: str  # of its own proof, at that place
    position: Position | None = None  # of that tactic, if recorded
    digest: str | None = None  # of the first goal there, if recorded


@attrs.frozen
class RowState(RowTask):
    """A state to check tactics at: its goal is the state as Lean printed it."""

    replay: Replay | None = None
    """Data for a replay; ``None`` if there is only the text."""

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of its theorem; none if the row does not name it."""
        return () if self.replay is None else lean.endings_of(self.replay.full_name)

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open the state, by a replay of its theorem if the row allows it, else from its text."""
        return self.open_point(server)[0].state

    def open_point(self, server: lean.Server) -> tuple[lean.ProofPoint, Fallback | None]:
        """Open the state, by replay if possible, and say why it may not be the traced one."""
        if self.replay is None or self.project is None:
            why = Fallback.NO_PLACE if self.replay is None else Fallback.NO_REPOSITORY
            return self._from_text(server, why)
        try:
            point = self._replayed(server, self.replay, self.project)
        except (lean.EngineLostError, lean.EngineUnavailableError):
            raise
        except (lean.LeanError, OSError, UnicodeDecodeError) as error:
            why = error.why if isinstance(error, UnopenedError) else Fallback.NO_REPLAY
            return self._from_text(server, why, f"{error}; nor from its text: ")
        return point, None if self.replay.digest is not None else Fallback.NO_DIGEST

    def _from_text(
        self, server: lean.Server, why: Fallback, said: str = ""
    ) -> tuple[lean.ProofPoint, Fallback]:
        try:
            return lean.goal_point(server, self.goal), why
        except lean.GoalTextError as error:
            raise UnopenedError(f"{said}{error}", why) from error

    def _replayed(self, server: lean.Server, replay: Replay, project: Path) -> lean.ProofPoint:
        text = lean.read_source(project / replay.file_path)
        source = lean.SourceTheorem(
            text, replay.full_name, replay.file_path, replay.start, replay.end
        )
        said, reached = "", False
        # Split files have no positions, so the tactic's text is searched there.
        places = [replay.position] if replay.position else source.occurrences(replay.tactic)
        for place in places[:MAX_PLACES]:
            try:
                point = lean.theorem_point(server, source, place)
            except lean.RequestError as error:  # for example, no tactic is there
                said = f" ({error})"
                continue
            # Compare states, since a tactic's text may occur in several places, even where nothing
            # is open.
            if self._is_at(point, replay.digest):
                return point
            reached = True
        raise UnopenedError(
            f"{replay.file_path}:{replay.start[0]}: {replay.full_name} no longer reaches the "
            f"traced state; trace it again{said}",
            Fallback.ANOTHER_STATE if reached else Fallback.NO_REPLAY,
        )

    def _is_at(self, point: lean.ProofPoint, digest: str | None) -> bool:
        if digest is None:
            return lean.reads_as(point.state, self.goal)
        return bool(point.digest.each) and lean.recorded_digest(point.digest.each[0]) == digest


def state_of_row(row: Mapping[str, Any], projects: Mapping[str, Path]) -> RowState:
    """Read the state of a dataset row, which ``tactic-prompt``'s columns allow to replay."""
    goal = str(row["problem"])
    start, end, position = (_position_of(row.get(name)) for name in ("start", "end", "position"))
    names = [row.get(name) for name in ("url", "commit", "file_path", "full_name", "tactic")]
    if start is None or end is None or any(name is None for name in names):
        return RowState(goal=goal)
    url, commit, file_path, full_name, tactic = map(str, names)
    digest = None if row.get("digest") is None else str(row["digest"])
    replay = Replay(file_path, full_name, start, end, tactic, position, digest)
    if (project := projects.get(url) or checkout(url, commit)) is None:
        return RowState(goal=goal, replay=replay)
    header = f"{project}/{file_path}"
    return RowState(goal=goal, project=project, header=header, owner=str(project), replay=replay)


@attrs.frozen
class RowTheorem(RowTask):
    """A theorem to prove; its goal is its name.

    Attributes:
        statement: Source text of the declaration up to and with ``:=``.
        place: File, start and end (``None`` if unknown) of a theorem of the project; ``None`` for
            one in a file of its own, whose header is the text before it.
    """

    statement: str
    place: tuple[str, Position | None, Position | None] | None = None

    @property
    def own_names(self) -> tuple[str, ...]:
        """The theorem's full name and its endings."""
        return lean.endings_of(self.goal)

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open the goal of its statement in its file's context, without itself in scope."""
        return lean.open_theorem(server, self.source)

    @property
    def source(self) -> lean.SourceTheorem:
        """The theorem in its file or one of its own; ``LeanError`` if file or place is missing."""
        if self.place is None:
            problem = BenchmarkProblem(
                full_name=self.goal, statement=self.statement, header=self.header or ""
            )
            return problem_of(problem).source
        file, start, end = self.place
        if start is None or end is None:
            raise lean.LeanError(
                f"the position of {self.goal} in {file} is unknown: the columns 'start' and "
                "'end' are missing; the formatter 'whole-proof' gives them"
            )
        if self.project is None:
            raise lean.LeanError(f"the repository of {self.goal} is not available")
        try:
            text = lean.read_source(self.project / file)
        except (OSError, UnicodeDecodeError) as error:
            raise lean.LeanError(f"{file} cannot be read: {error}") from error
        return lean.SourceTheorem(text, self.goal, file, start, end, self.statement or None)


def theorem_of_row(row: Mapping[str, Any], projects: Mapping[str, Path]) -> RowTheorem:
    """Read the theorem of a dataset row, as the formatter ``whole-proof`` writes it.

    It has ``full_name`` and ``problem`` (the statement); ``header`` and ``project`` for a theorem
    with a text of its own, or ``url``, ``commit``, ``file_path``, ``start`` and ``end``.
    """
    name, statement = str(row.get("full_name") or ""), str(row["problem"])
    if row.get("file_path") is None:
        project = row.get("project")
        folder = Path(str(project)) if project else None
        header = str(row.get("header") or "")
        return RowTheorem(goal=name, statement=statement, project=folder, header=header)
    start, end = (_position_of(row.get(key)) for key in ("start", "end"))
    url, commit = str(row.get("url")), str(row.get("commit"))
    folder = projects.get(url) or checkout(url, commit)
    file = str(row["file_path"])
    return RowTheorem(
        goal=name,
        statement=statement,
        project=folder,
        header=f"{folder}/{file}",
        owner=str(folder),
        place=(file, start, end),
    )


def rows_of(columns: Mapping[str, Any], length: int) -> list[dict[str, Any]]:
    """Return each completion's row of the columns; other arguments are left out."""
    lists = {
        name: values
        for name, values in columns.items()
        if isinstance(values, Sequence) and not isinstance(values, str) and len(values) == length
    }
    return [{name: values[i] for name, values in lists.items()} for i in range(length)]


def _position_of(value: Any) -> Position | None:
    """Read a 1-based line and column."""
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
