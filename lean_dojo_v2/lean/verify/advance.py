"""Does a step get nearer to a proof? Lean is asked, by closing one through it.

Lean accepts steps that lead nowhere: ``skip``, ``have := trivial``, ``exfalso`` where nothing is
contradictory, a goal that cannot be shown. A reward that pays for "Lean accepted it" teaches a
model exactly those. So a step counts as an *advance* only if Lean has closed a whole proof through
it, and by less than it takes from the state before. Two distances say how much that is:

- by how many tactics of the traced proof, counted from its end, the state can be closed;
- the first rung of a fixed ladder (:mod:`.ladder`) on which all of its goals close.

A step that leads to the very state that the traced proof goes on from is the traced proof's own.

Whatever closes a state there, the whole theorem is then elaborated once more with it: no error, no
``sorry``, nothing open, the three usual axioms alone, checked by the kernel. No goal is read as a
text.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs

from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineLostError,
    EngineTimeoutError,
    LeanError,
    StaleStateError,
)
from lean_dojo_v2.lean.verify.digests import digest
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.ladder import RUNG_HEARTBEATS, RUNGS, Rung, closing_tactic
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.points import ProofPoint
from lean_dojo_v2.lean.verify.proofs import ALLOWED_AXIOMS, PROOF_TIMEOUT
from lean_dojo_v2.lean.verify.tactics import TACTIC_TIMEOUT, check_tactic

REST_HEARTBEATS = 100_000
"""Heartbeats that the rest of a traced proof may take at another state."""
MAX_STEPS = 24
"""Tactics of the traced proof's end that are counted; a state farther off has no distance by it."""
MAX_RESTS = 12
"""Ends of the traced proof that are tried at the state after a step, the longest first."""
KEPT_STATES = 50_000
"""States whose distances are remembered."""


@attrs.frozen
class Distance:
    """How far a point of a proof is from its end.

    Attributes:
        steps: The fewest tactics of the traced proof's end that close it; ``None`` if none of the
            last ``MAX_STEPS`` do.
        rung: The first rung of the ladder that closes it.
        own_next: What the goals after the traced proof's own tactic say, if it has one.
    """

    steps: int | None
    rung: Rung
    own_next: tuple[str, ...] | None = None


_distances: Kept[Distance] = Kept(KEPT_STATES)
_closed: Kept[bool] = Kept(KEPT_STATES)


def judge_step(
    server: Server,
    point: ProofPoint,
    tactic: str,
    *,
    timeout: float = TACTIC_TIMEOUT,
) -> TacticOutcome:
    """Try one tactic at a point of a proof, and find out whether it gets nearer to the end.

    Args:
        server: The engine that holds the point's state.
        point: The point.
        tactic: A model's completion: hostile input.
        timeout: Seconds that Lean may take for each call: a safety net, no budget.

    Returns:
        What became of it. ``SOLVED`` and ``ADVANCED`` mean that Lean has closed the whole proof
        through it.
    """
    outcome = check_tactic(
        server, point.state, tactic, own_names=point.own_names, strict=True, timeout=timeout
    )
    if outcome.state is None:
        return outcome
    try:
        asked = _Asked(server, point.key, timeout)
        return _Judge(asked, point, tactic.strip()).judge(outcome, outcome.state)
    except (EngineLostError, StaleStateError) as error:
        # Nothing is known of the step then: "unproven" would be a judgement.
        return attrs.evolve(
            outcome,
            verdict=Verdict.TIMED_OUT,
            state=None,
            detail=str(error),
            engine_died=not isinstance(error, EngineTimeoutError),
        )


def distance(server: Server, point: ProofPoint, *, timeout: float = TACTIC_TIMEOUT) -> Distance:
    """Find out how far a point is from its end; the answer is kept.

    Args:
        server: The engine that holds the point's state.
        point: The point.
        timeout: Seconds that Lean may take for each call.

    Raises:
        EngineLostError: The engine died or the time was up.
    """
    asked = _Asked(server, point.key, timeout)
    return _distances.get(point.key, lambda: asked.distance(point))


@attrs.frozen
class _Asked:
    """Asks an engine what closes the states of one point."""

    server: Server
    key: Hashable
    timeout: float

    def says(self, state: GoalState) -> tuple[str, ...]:
        return digest(self.server, state, timeout=self.timeout).goals

    def distance(self, point: ProofPoint) -> Distance:
        lengths = range(1, min(len(point.rest), MAX_STEPS) + 1)
        steps = next((n for n in lengths if self.closes(point.state, point.rest[-n])), None)
        rungs = (r for r in RUNGS if self.climbs(point.state, point.said, r))
        return Distance(steps, next(rungs, Rung.UNKNOWN), self._own_next(point))

    def _own_next(self, point: ProofPoint) -> tuple[str, ...] | None:
        """Say what the goals are after the traced proof's own tactic."""
        after = None if point.own is None else self._run(point.state, point.own, REST_HEARTBEATS)
        return None if after is None else self.says(after)

    def climbs(self, state: GoalState, said: tuple[str, ...], rung: Rung) -> bool:
        """Whether a rung closes a state; its tactics name nothing, so what is said decides."""

        def find() -> bool:
            return self.closes(state, closing_tactic(rung), RUNG_HEARTBEATS)

        return _closed.get((self.key, said, rung), find)

    def closes(self, state: GoalState, tactic: str, heartbeats: int = REST_HEARTBEATS) -> bool:
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
        except (EngineLostError, StaleStateError):
            raise
        except LeanError:
            return None


@attrs.frozen
class _Judge:
    """Judges one accepted tactic."""

    asked: _Asked
    point: ProofPoint
    tactic: str

    def judge(self, outcome: TacticOutcome, after: GoalState) -> TacticOutcome:
        if after.is_solved:
            return self._solved(outcome)
        if after.owed:
            return _unproven(outcome, f"leaves a hidden goal open:\n{after.owed}")
        said = self.asked.says(after)
        if said == self.point.said:
            return _unproven(outcome, "changes nothing")
        before = distance(self.asked.server, self.point, timeout=self.asked.timeout)
        if (resume := self._rest(before, said, after)) is not None:
            found = self._certified(outcome, Verdict.ADVANCED, (self.tactic,), resume)
            if found.advances:
                return found
        if (rung := self._rung(before, said, after)) is not None:
            tactics = (self.tactic, closing_tactic(rung))
            return self._certified(outcome, Verdict.ADVANCED, tactics, None)
        return _unproven(outcome, "no proof through it is known that is nearer to its end")

    def _solved(self, outcome: TacticOutcome) -> TacticOutcome:
        found = self._certified(outcome, Verdict.SOLVED, (self.tactic,), None)
        sees_all = self.asked.server.capabilities.opens_tactics
        if found.advances or sees_all or len(self.point.rest) < 2:
            return found
        # The engine may have shown one goal of several: then the traced proof has to go on.
        going_on = self._certified(outcome, Verdict.ADVANCED, (self.tactic,), 1)
        return going_on if going_on.advances else found

    def _rest(self, before: Distance, said: tuple[str, ...], after: GoalState) -> int | None:
        """Find an end of the traced proof that closes the state after the step, and is nearer."""
        rests = self.point.rest
        own = [1] if said == before.own_next and len(rests) > 1 else []
        steps = before.steps or 0
        nearer = range(len(rests) - steps + 1, len(rests))[:MAX_RESTS]
        tried = (i for i in dict.fromkeys([*own, *nearer]) if self.asked.closes(after, rests[i]))
        return next(tried, None)

    def _rung(self, before: Distance, said: tuple[str, ...], after: GoalState) -> Rung | None:
        """Return a rung below that of the state before which closes the state after the step."""
        lower = [rung for rung in RUNGS if rung < before.rung]
        return lower[-1] if lower and self.asked.climbs(after, said, lower[-1]) else None

    def _certified(
        self, outcome: TacticOutcome, verdict: Verdict, tactics: tuple[str, ...], resume: int | None
    ) -> TacticOutcome:
        """Have Lean check the whole proof, its kernel included."""
        if self.point.finish is not None:
            asked = self.asked
            try:
                # A whole check elaborates the file's context, too.
                patience = max(asked.timeout, PROOF_TIMEOUT)
                whole = self.point.finish(asked.server, tactics, resume, patience)
            except (EngineLostError, StaleStateError):
                raise
            except LeanError as error:
                return _unproven(outcome, f"the whole proof cannot be checked: {error}")
            if not whole.valid:
                return _unproven(outcome, f"the whole proof does not hold: {whole.detail}")
        return attrs.evolve(outcome, verdict=verdict)


def _unproven(outcome: TacticOutcome, detail: str) -> TacticOutcome:
    return attrs.evolve(outcome, verdict=Verdict.UNPROVEN, detail=detail)
