"""The reward of single tactics that Lean verifies, each at the state of its row."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.records import Position
from lean_dojo_plugins.rewards.lean_reward import (
    Fallback,
    LeanReward,
    Question,
    Spec,
    checkout,
    position_of,
    rows_of,
)
from lean_dojo_v2.fields import positive, setting
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
from lean_dojo_v2.prover.completions import answer_of

_log = logging.getLogger(__name__)
MAX_PLACES = 20
"""Maximum number of places of a proof tried for one state."""


class _UnopenedError(LeanError):
    """A state cannot be opened, neither by replay nor from its text."""

    def __init__(self, message: str, why: Fallback) -> None:
        super().__init__(message)
        self.why = why


class _AnotherStateError(LeanError):
    """The place of a proof exists, but has another state."""


@attrs.frozen
class Replay:
    """The place of a theorem, and of a tactic of its proof, for an exact replay.

    Attributes:
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
class StateSpec(Spec):
    """A state to check tactics at: its goal is the state as Lean printed it.

    Attributes:
        replay: Data for a replay; ``None`` if there is only the text.
    """

    replay: Replay | None = None

    def open(self, server: Server) -> tuple[ProofPoint, Fallback | None]:
        """Open the state, by replay if possible, and say why it may not be the traced one."""
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
    """Read the state of a dataset row, which ``tactic-prompt``'s columns allow to replay."""
    goal = str(row["problem"])
    start, end, position = (position_of(row.get(name)) for name in ("start", "end", "position"))
    names = [row.get(name) for name in ("url", "commit", "file_path", "full_name", "tactic")]
    if start is None or end is None or any(name is None for name in names):
        return StateSpec(goal=goal)
    url, commit, file_path, full_name, tactic = map(str, names)
    digest = None if row.get("digest") is None else str(row["digest"])
    replay = Replay(file_path, full_name, start, end, tactic, position, digest)
    if (project := projects.get(url) or checkout(url, commit)) is None:
        return StateSpec(goal=goal, replay=replay)
    header = f"{project}/{file_path}"
    return StateSpec(goal=goal, project=project, header=header, owner=str(project), replay=replay)


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


def _score(default: float, text: str) -> Any:
    return attrs.field(default=default, converter=float, metadata={"help": text})


@attrs.define(eq=False, slots=False)
class PantographVerified(LeanReward):
    """1 for a tactic through which Lean can finish the whole proof; nothing else is rewarded.

    A completion is checked at the exact state of its row: the theorem is replayed from its file to
    that tactic, without itself in scope; rows without that information are opened from the goal's
    text. A tactic *advances* if Lean can finish the proof from there by less than it takes from
    the state before: by fewer tactics of the traced proof's end, or by a lower rung of a fixed
    ladder of closing tactics (:mod:`lean_dojo_v2.lean.verify.advance`). ``sorry`` in any spelling,
    native code, metaprograms, options and the theorem itself are refused as cheating.

    Equal tactics at equal states are checked once. If a state cannot be opened, the reward does
    not apply (``None``).

    Logs the share of each verdict to TRL's metrics, ``lean/verified`` first, refusals by reason,
    and ``lean/fallback`` by reason, for states not known to be the traced ones
    (:mod:`lean_dojo_plugins.rewards.lean_reward`). The log also says, once for each reason, that a
    completion was not one tactic, with an example.

    Thoughts (``<think>…</think>``) are not part of a completion.
    """

    advanced: float = _score(1.0, "Reward of a tactic that makes progress towards a proof.")
    solved: float = _score(1.0, "Reward of a tactic that leaves no goal at all.")
    unproven: float = _score(0.0, "Reward of a tactic without known progress towards a proof.")
    failed: float = _score(0.0, "Reward of a tactic that Lean rejects.")
    unparsed: float = _score(0.0, "Reward of a text that is not one tactic.")
    refused: float = _score(-1.0, "Reward of cheating.")
    timed_out: float = _score(0.0, "Reward of a tactic that takes too long or kills its engine.")
    timeout: float = setting(10.0, "Time limit for one call of Lean, in seconds.", positive)
    imports: tuple[str, ...] = attrs.field(
        default=("Init",),
        converter=tuple,
        metadata={"help": "Modules to import for goals opened from text."},
    )

    name = "pantograph-verified"
    wanted = "one tactic"
    needs = ("problem",)
    formatter = "tactic-prompt"
    judge = staticmethod(judge)

    def _start(self, imports: tuple[str, ...] = ()) -> None:
        super()._start(imports or self.imports)

    def warm_up(self, problem: Sequence[str] = (), **columns: Any) -> None:
        """Load what these states need while tactics for them are being generated.

        Raises:
            EngineUnavailableError: If no Lean engine can serve this.
        """
        rows = rows_of({**columns, "problem": problem}, len(problem))
        for spec in dict.fromkeys(spec_of(row, self.projects) for row in rows):
            self._submit(_open, spec)

    def score(self, judgement: TacticOutcome) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is Verdict.UNOPENED:
            return None
        return float(getattr(self, judgement.verdict))

    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        return spec_of(row, self.projects), answer_of(text).strip()


def _open(server: Server, spec: StateSpec) -> None:
    """Open a state once, so that an engine is running with its file's context loaded."""
    spec.open(server)
