"""The reward of single tactics that Lean verifies, each at the state of its row."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lean_dojo_plugins.rewards.lean_reward import LeanReward, Question, a_number
from lean_dojo_plugins.rewards.rows import Fallback, RowState, UnopenedError, rows_of, state_of_row
from lean_dojo_v2 import lean
from lean_dojo_v2.prover import answer_of
from lean_dojo_v2.settings import fields, setting


def judge(
    server: lean.Server, task: RowState, tactics: tuple[str, ...], timeout: float
) -> list[lean.TacticOutcome]:
    """Check several tactics at one state, opening it as seldom as possible.

    Lean has ``timeout`` seconds for each. A tactic that kills two engines is judged ``timed_out``;
    an ``EngineLostError`` means that opening the state does.
    """
    point: lean.ProofPoint | None = None
    fallback: Fallback | None = None
    found: list[lean.TacticOutcome] = []
    again = False
    while len(found) < len(tactics):
        if point is None or not server.holds(point.state):
            try:
                point, fallback = task.open_point(server)
            except (lean.EngineLostError, lean.EngineUnavailableError):
                raise
            except lean.LeanError as error:
                left = len(tactics) - len(found)
                why = error.why if isinstance(error, UnopenedError) else Fallback.NO_REPLAY
                lost = lean.TacticOutcome(lean.Verdict.UNOPENED, detail=str(error), fallback=why)
                return found + [lost] * left
        outcome = lean.judge_step(server, point, tactics[len(found)], timeout=timeout)
        if outcome.engine_died and not again:  # perhaps not the tactic's fault
            again = True
            continue
        again = False
        # An outcome that is kept must not hold on to its state in the engine.
        found.append(attrs.evolve(outcome, state=None, fallback=fallback))
    return found


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

    advanced: float = setting(
        1.0, "Reward of a tactic that makes progress towards a proof.", a_number
    )
    solved: float = setting(1.0, "Reward of a tactic that leaves no goal at all.", a_number)
    unproven: float = setting(
        0.0, "Reward of a tactic without known progress towards a proof.", a_number
    )
    failed: float = setting(0.0, "Reward of a tactic that Lean rejects.", a_number)
    unparsed: float = setting(0.0, "Reward of a text that is not one tactic.", a_number)
    refused: float = setting(-1.0, "Reward of cheating.", a_number)
    timed_out: float = setting(
        0.0, "Reward of a tactic that takes too long or kills its engine.", a_number
    )
    timeout: float = setting(10.0, "Time limit for one call of Lean, in seconds.", fields.positive)
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

        ``EngineUnavailableError`` if no Lean engine can serve this.
        """
        rows = rows_of({**columns, "problem": problem}, len(problem))
        for task in dict.fromkeys(state_of_row(row, self.projects) for row in rows):
            self._submit(_open, task)

    def score(self, judgement: lean.TacticOutcome) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is lean.Verdict.UNOPENED:
            return None
        return float(getattr(self, judgement.verdict))

    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        return state_of_row(row, self.projects), answer_of(text).strip()


def _open(server: lean.Server, task: RowState) -> None:
    """Open a state once, so that an engine is running with its file's context loaded."""
    task.open(server)
