"""Judge whether a step makes progress, by letting Lean finish a proof through it.

Lean accepts steps that lead nowhere: ``skip``, ``have := trivial``, ``exfalso`` without a
contradiction, unprovable goals. Rewarding acceptance teaches a model exactly those. So a step
counts as an *advance* only if Lean has finished a whole proof through it, and with less effort than
from the state before. There are two distances:

- the number of tactics of the traced proof, counted from its end, that close the state;
- the first rung of a fixed ladder of closing tactics on which all of its goals close.

A step to exactly the goals from which the traced proof continues also counts: those that its tactic
leaves, and those that its inner blocks prove.

Whatever closes a state, the whole theorem is then elaborated once more with it: no error, no
``sorry``, nothing open, only the three usual axioms, checked by the kernel. Goals are never
compared as text.
"""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

import attrs

from lean_dojo_v2.lean import errors
from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.verify.lru_cache import LRUCache
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.points import ProofPoint
from lean_dojo_v2.lean.verify.proofs import ALLOWED_AXIOMS, PROOF_TIMEOUT
from lean_dojo_v2.lean.verify.states import state_digest
from lean_dojo_v2.lean.verify.tactics import TACTIC_TIMEOUT, check_tactic, unanswered

REST_HEARTBEATS = 100_000
"""Heartbeats for the rest of a traced proof at another state."""
MAX_STEPS = 24
"""Maximum distance in tactics of the traced proof."""
MAX_RESTS = 12
"""Maximum number of ends of the traced proof tried after a step, the longest first."""
KEPT_STATES = 50_000
"""Number of states whose distances are cached."""
RUNG_HEARTBEATS = 20_000
"""Heartbeats per rung (Lean's own limit is 200,000)."""


class Rung(IntEnum):
    """The first rung on which all goals of a state close; a lower one is nearer to the end."""

    TRIVIAL = 1
    SIMP = 2
    AUTOMATION = 3
    UNKNOWN = 4


_TRIVIAL = ("rfl", "assumption", "trivial")
# `simp_all` comes last, since running out of heartbeats ends the whole tactic.
_RUNGS: dict[Rung, tuple[str, ...]] = {
    Rung.TRIVIAL: _TRIVIAL,
    Rung.SIMP: (*_TRIVIAL, "simp_all"),
    Rung.AUTOMATION: (*_TRIVIAL, "omega", "decide", "grind", "simp_all"),
}


def closing_tactic(rung: Rung) -> str:
    """Return the tactic that closes all goals that a rung, or one below it, can close.

    >>> closing_tactic(Rung.SIMP)
    'all_goals (first | rfl | assumption | trivial | simp_all)'
    """
    return f"all_goals (first | {' | '.join(_RUNGS[rung])})"


@attrs.frozen
class Distance:
    """Distance of a point of a proof from its end.

    ``steps`` are the fewest tactics of the traced proof's end that close it, ``None`` if none of
    the last ``MAX_STEPS`` do; ``rung`` is the first rung of the ladder that closes it.
    """

    steps: int | None
    rung: Rung


_distances: LRUCache[Distance] = LRUCache(KEPT_STATES)
_closed: LRUCache[bool] = LRUCache(KEPT_STATES)


def judge_step(
    server: Server,
    point: ProofPoint,
    tactic: str,
    *,
    timeout: float = TACTIC_TIMEOUT,
) -> TacticOutcome:
    """Try one tactic (hostile input) at a point of a proof, and judge its progress.

    ``SOLVED`` and ``ADVANCED`` mean that Lean has finished the whole proof through it. ``timeout``
    limits each call of Lean, in seconds; a safety net.
    """
    outcome = check_tactic(
        server, point.state, tactic, own_names=point.own_names, strict=True, timeout=timeout
    )
    if outcome.state is None:
        return outcome
    try:
        return _Judge(server, point, timeout).judge(outcome, outcome.state, tactic.strip())
    except (errors.EngineLostError, errors.StaleStateError) as error:
        return unanswered(error)  # "unproven" would be a judgement


def distance(server: Server, point: ProofPoint, *, timeout: float = TACTIC_TIMEOUT) -> Distance:
    """Return the cached distance of a point, whose state the engine holds, from the end."""
    return _distances.get_or_compute(point.key, _Judge(server, point, timeout).distance)


@attrs.frozen
class _Judge:
    """Judges tactics at one point with an engine."""

    server: Server
    point: ProofPoint
    timeout: float

    def judge(self, outcome: TacticOutcome, after: GoalState, tactic: str) -> TacticOutcome:
        """Judge an accepted tactic by the state after it."""
        if after.is_solved:
            return self._solved(outcome, tactic)
        if after.owed:
            return _unproven(outcome, f"leaves a hidden goal open:\n{after.owed}")
        says = state_digest(self.server, after, timeout=self.timeout)
        if says.goals == self.point.digest.goals:
            return _unproven(outcome, "changes nothing")
        if (onward := self._onward(says.each)) is not None:
            resume = 1 if len(self.point.rest) > 1 else None
            found = self._certified(outcome, Verdict.ADVANCED, (tactic, *onward), resume)
            if found.advances:
                return found
        before = distance(self.server, self.point, timeout=self.timeout)
        if (resume := self._rest(before, after)) is not None:
            found = self._certified(outcome, Verdict.ADVANCED, (tactic,), resume)
            if found.advances:
                return found
        if (rung := self._rung(before, says.goals, after)) is not None:
            tactics = (tactic, closing_tactic(rung))
            return self._certified(outcome, Verdict.ADVANCED, tactics, None)
        return _unproven(outcome, "no known proof through it is nearer to the end")

    def distance(self) -> Distance:
        """Compute the point's distance from the end."""
        point = self.point
        lengths = range(1, min(len(point.rest), MAX_STEPS) + 1)
        steps = next((n for n in lengths if self._closes(point.state, point.rest[-n])), None)
        rungs = (r for r in _RUNGS if self._climbs(point.state, point.digest.goals, r))
        return Distance(steps, next(rungs, Rung.UNKNOWN))

    def _solved(self, outcome: TacticOutcome, tactic: str) -> TacticOutcome:
        found = self._certified(outcome, Verdict.SOLVED, (tactic,), None)
        if found.advances or len(self.point.rest) < 2:
            return found
        # The tactic may run several times (`all_goals`), or the engine may have shown one goal of
        # several; then the traced proof must continue.
        going_on = self._certified(outcome, Verdict.ADVANCED, (tactic,), 1)
        return going_on if going_on.advances else found

    def _onward(self, goals: Sequence[str]) -> list[str] | None:
        """Return tactics after which the traced proof continues from a step's goals, by digests.

        Each must be a goal of the traced proof here: one that an inner block of its tactic proves
        (``have h : p := ?_`` leaves the goal of ``have h : p := by …``), or one that its tactic
        leaves, in order. The step must close an old goal or open a new one; reordering or
        duplicating goals does not count.
        """
        point = self.point
        before = point.digest.each
        if set(goals) <= set(before) and Counter(before) <= Counter(goals):
            return None
        left = list(point.after)
        tactics: list[str] = []
        for goal in goals:
            if left and goal == left[0]:
                tactics.append("rotate_left")
                left.pop(0)
            elif goal in point.blocks:
                tactics.append(point.blocks[goal])
            else:
                return None
        if left:
            return None
        nothing_else_is_open = set(tactics) == {"rotate_left"}
        return [] if nothing_else_is_open else tactics

    def _rest(self, before: Distance, after: GoalState) -> int | None:
        """Find an end of the traced proof that closes the state after the step, and is nearer."""
        rests = self.point.rest
        nearer = range(len(rests) - (before.steps or 0) + 1, len(rests))[:MAX_RESTS]
        return next((i for i in nearer if self._closes(after, rests[i])), None)

    def _rung(self, before: Distance, said: tuple[str, ...], after: GoalState) -> Rung | None:
        """Return a rung lower than the state before's that closes the state after the step."""
        lower = [rung for rung in _RUNGS if rung < before.rung]
        return lower[-1] if lower and self._climbs(after, said, lower[-1]) else None

    def _certified(
        self, outcome: TacticOutcome, verdict: Verdict, tactics: tuple[str, ...], resume: int | None
    ) -> TacticOutcome:
        """Verify the whole proof in full."""
        # Full verification elaborates the file's context, too.
        patience = max(self.timeout, PROOF_TIMEOUT)
        try:
            whole = self.point.finish(self.server, tactics, resume, patience)
        except (errors.EngineLostError, errors.EngineUnavailableError, errors.StaleStateError):
            raise
        except errors.LeanError as error:
            return _unproven(outcome, f"the whole proof cannot be checked: {error}")
        if not whole.valid:
            return _unproven(outcome, f"the whole proof does not hold: {whole.detail}")
        return attrs.evolve(outcome, verdict=verdict)

    def _climbs(self, state: GoalState, said: tuple[str, ...], rung: Rung) -> bool:
        """Whether a rung closes a state; independent of names, so cached by digests."""
        return _closed.get_or_compute(
            (self.point.key, said, rung),
            lambda: self._closes(state, closing_tactic(rung), RUNG_HEARTBEATS),
        )

    def _closes(self, state: GoalState, tactic: str, heartbeats: int = REST_HEARTBEATS) -> bool:
        """Whether a tactic of ours leaves nothing open."""
        try:
            after = self.server.goal_tactic(
                state,
                tactic,
                Site(0, auto_resume=True),
                options={"maxHeartbeats": heartbeats},
                axioms=ALLOWED_AXIOMS,
                timeout=self.timeout,
            )
        except (errors.TacticFailure, errors.RequestError):
            return False
        return after.is_solved


def _unproven(outcome: TacticOutcome, detail: str) -> TacticOutcome:
    return attrs.evolve(outcome, verdict=Verdict.UNPROVEN, detail=detail)
