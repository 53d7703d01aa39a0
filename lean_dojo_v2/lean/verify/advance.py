"""Judge whether a step makes progress, by letting Lean finish a proof through it.

Lean accepts steps that lead nowhere: ``skip``, ``have := trivial``, ``exfalso`` without a
contradiction, unprovable goals. Rewarding acceptance teaches a model exactly those. So a step
counts as an *advance* only if Lean has finished a whole proof through it, and with less effort than
from the state before. There are two distances:

- the number of tactics of the traced proof, counted from its end, that close the state;
- the first rung of a fixed ladder (:mod:`.ladder`) on which all of its goals close.

A step to exactly the goals from which the traced proof continues also counts: those that its tactic
leaves, and those that its inner blocks prove.

Whatever closes a state, the whole theorem is then elaborated once more with it: no error, no
``sorry``, nothing open, only the three usual axioms, checked by the kernel. Goals are never
compared as text.
"""

from __future__ import annotations

import attrs

from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineLostError,
    EngineUnavailableError,
    LeanError,
    StaleStateError,
)
from lean_dojo_v2.lean.verify.digests import StateDigest, digest
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.ladder import RUNG_HEARTBEATS, RUNGS, Rung, closing_tactic
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.points import Onward, ProofPoint
from lean_dojo_v2.lean.verify.proofs import ALLOWED_AXIOMS, PROOF_TIMEOUT
from lean_dojo_v2.lean.verify.tactics import TACTIC_TIMEOUT, check_tactic, unanswered

REST_HEARTBEATS = 100_000
"""Heartbeats for the rest of a traced proof at another state."""
MAX_STEPS = 24
"""Maximum distance in tactics of the traced proof."""
MAX_RESTS = 12
"""Maximum number of ends of the traced proof tried after a step, the longest first."""
KEPT_STATES = 50_000
"""Number of states whose distances are cached."""


@attrs.frozen
class Distance:
    """Distance of a point of a proof from its end.

    Attributes:
        steps: The fewest tactics of the traced proof's end that close it; ``None`` if none of the
            last ``MAX_STEPS`` do.
        rung: The first rung of the ladder that closes it.
    """

    steps: int | None
    rung: Rung


_distances: Kept[Distance] = Kept(KEPT_STATES)
_closed: Kept[bool] = Kept(KEPT_STATES)
_after: Kept[tuple[str, ...] | None] = Kept(KEPT_STATES)


def judge_step(
    server: Server,
    point: ProofPoint,
    tactic: str,
    *,
    timeout: float = TACTIC_TIMEOUT,
) -> TacticOutcome:
    """Try one tactic at a point of a proof, and judge its progress.

    Args:
        server: The engine that holds the point's state.
        point: The point.
        tactic: A model's completion: hostile input.
        timeout: Time limit of each call of Lean, in seconds; a safety net.

    Returns:
        The outcome. ``SOLVED`` and ``ADVANCED`` mean that Lean has finished the whole proof
        through it.
    """
    outcome = check_tactic(
        server, point.state, tactic, own_names=point.own_names, strict=True, timeout=timeout
    )
    if outcome.state is None:
        return outcome
    try:
        return _Judge(server, point, timeout).judge(outcome, outcome.state, tactic.strip())
    except (EngineLostError, StaleStateError) as error:
        return unanswered(error)  # "unproven" would be a judgement


def distance(server: Server, point: ProofPoint, *, timeout: float = TACTIC_TIMEOUT) -> Distance:
    """Return the cached distance of a point, whose state the engine holds, from the end."""
    return _distances.get(point.key, _Judge(server, point, timeout).distance)


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
        says = self._says(after)
        if says.goals == self.point.said:
            return _unproven(outcome, "changes nothing")
        if (onward := self._onward(says)) is not None:
            tactics = (tactic, *onward.tactics)
            found = self._certified(outcome, Verdict.ADVANCED, tactics, onward.resume)
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
        rungs = (r for r in RUNGS if self._climbs(point.state, point.said, r))
        return Distance(steps, next(rungs, Rung.UNKNOWN))

    def _solved(self, outcome: TacticOutcome, tactic: str) -> TacticOutcome:
        found = self._certified(outcome, Verdict.SOLVED, (tactic,), None)
        if found.advances or len(self.point.rest) < 2:
            return found
        # The tactic may run several times (`all_goals`), or the engine may have shown one goal of
        # several; then the traced proof must continue.
        going_on = self._certified(outcome, Verdict.ADVANCED, (tactic,), 1)
        return going_on if going_on.advances else found

    def _onward(self, says: StateDigest) -> Onward | None:
        """Return the traced proof's continuation, if the step is its own up to inner proofs."""
        point = self.point
        after = point.after
        if after is None and point.own is not None:
            after = _after.get(point.key, self._after_own)
        return None if after is None else point.onward(says.each, after)

    def _after_own(self) -> tuple[str, ...] | None:
        """Run the traced proof's own tactic, if the goals that it leaves are unknown."""
        own = self._run(self.point.state, str(self.point.own), REST_HEARTBEATS)
        return None if own is None else self._says(own).each

    def _rest(self, before: Distance, after: GoalState) -> int | None:
        """Find an end of the traced proof that closes the state after the step, and is nearer."""
        rests = self.point.rest
        nearer = range(len(rests) - (before.steps or 0) + 1, len(rests))[:MAX_RESTS]
        return next((i for i in nearer if self._closes(after, rests[i])), None)

    def _rung(self, before: Distance, said: tuple[str, ...], after: GoalState) -> Rung | None:
        """Return a rung lower than the state before's that closes the state after the step."""
        lower = [rung for rung in RUNGS if rung < before.rung]
        return lower[-1] if lower and self._climbs(after, said, lower[-1]) else None

    def _certified(
        self, outcome: TacticOutcome, verdict: Verdict, tactics: tuple[str, ...], resume: int | None
    ) -> TacticOutcome:
        """Verify the whole proof in full."""
        if self.point.finish is not None:
            # Full verification elaborates the file's context, too.
            patience = max(self.timeout, PROOF_TIMEOUT)
            try:
                whole = self.point.finish(self.server, tactics, resume, patience)
            except (EngineLostError, EngineUnavailableError, StaleStateError):
                raise
            except LeanError as error:
                return _unproven(outcome, f"the whole proof cannot be checked: {error}")
            if not whole.valid:
                return _unproven(outcome, f"the whole proof does not hold: {whole.detail}")
        return attrs.evolve(outcome, verdict=verdict)

    def _says(self, state: GoalState) -> StateDigest:
        return digest(self.server, state, timeout=self.timeout)

    def _climbs(self, state: GoalState, said: tuple[str, ...], rung: Rung) -> bool:
        """Whether a rung closes a state; independent of names, so cached by digests."""
        return _closed.get(
            (self.point.key, said, rung),
            lambda: self._closes(state, closing_tactic(rung), RUNG_HEARTBEATS),
        )

    def _closes(self, state: GoalState, tactic: str, heartbeats: int = REST_HEARTBEATS) -> bool:
        """Whether a tactic of ours leaves nothing open."""
        after = self._run(state, tactic, heartbeats)
        return after is not None and after.is_solved

    def _run(self, state: GoalState, tactic: str, heartbeats: int) -> GoalState | None:
        try:
            return self.server.goal_tactic(
                state,
                tactic,
                Site(0, auto_resume=True),
                options={"maxHeartbeats": heartbeats},
                axioms=ALLOWED_AXIOMS,
                timeout=self.timeout,
            )
        except (EngineLostError, EngineUnavailableError, StaleStateError):
            raise
        except LeanError:
            return None


def _unproven(outcome: TacticOutcome, detail: str) -> TacticOutcome:
    return attrs.evolve(outcome, verdict=Verdict.UNPROVEN, detail=detail)
