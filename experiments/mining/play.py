"""Prove a goal step by step: take it apart, and close what is left by automation."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import attrs

from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, LeanError, StaleStateError
from lean_dojo_v2.prover.problem import Problem
from mining.moves import closers, moves

TACTIC_SECONDS = 20.0
"""A safety net; what a tactic may take is counted in heartbeats."""


class MinedStep(NamedTuple):
    """A step of a proof: the state as Lean prints it, the tactic, and the state after it."""

    before: str
    tactic: str
    after: str


_Closed: TypeAlias = tuple[list[MinedStep], GoalState]
"""The steps that close a goal, and the state in which the others are left."""


@attrs.frozen
class MiningLimits:
    """Limits for one proof.

    Attributes:
        calls: Tactics tried.
        depth: Steps that take a goal apart, one inside the other.
        heartbeats: Lean heartbeats that one tactic may use.
    """

    calls: int = 40
    depth: int = 2
    heartbeats: int = 1500


@attrs.define
class Player:
    """Proves by depth-first search: each goal is closed, or taken apart and its parts closed.

    Attributes:
        server: The engine.
        budget: What may be spent on a proof.
        hints: Tactics to try before others, where the goal suggests them.
        chance: With it, tactics come in another order, and goals may be taken apart that could be
            closed at once: other proofs of the same theorem.
    """

    server: Server
    budget: MiningLimits = attrs.Factory(MiningLimits)
    hints: frozenset[str] = frozenset()
    chance: random.Random | None = None
    _left: int = attrs.field(default=0, init=False)

    def prove(self, problem: Problem) -> list[MinedStep] | None:
        """Search for a proof; ``None`` without one. It is still to be checked as a whole.

        Raises:
            LeanError: If the problem cannot be opened, or the engine is lost.
        """
        self._left = self.budget.calls
        state = problem.open(self.server)
        found = self._close(state, self.budget.depth)
        return None if found is None else found[0]

    def _close(self, state: GoalState, depth: int) -> _Closed | None:
        """Close the first goal."""
        goal = state.goals[0]
        ways = self._hinted(closers(goal))
        apart = self._hinted(moves(goal)) if depth else []
        if self._apart_first(ways, apart):
            return self._apart(state, apart, depth) or self._at_once(state, ways)
        return self._at_once(state, ways) or self._apart(state, apart, depth)

    def _hinted(self, tactics: Iterable[str]) -> list[str]:
        """Put hints first; the others in the order of chance, if there is any."""
        found = list(tactics)
        if self.chance is not None:
            self.chance.shuffle(found)
        return sorted(found, key=lambda tactic: tactic not in self.hints)

    def _apart_first(self, ways: Sequence[str], apart: Sequence[str]) -> bool:
        if not apart or apart[0].startswith("intro"):
            return bool(apart)
        if self.chance is not None:
            return self.chance.random() < 0.5
        return apart[0] in self.hints and ways[0] not in self.hints

    def _at_once(self, state: GoalState, tactics: Sequence[str]) -> _Closed | None:
        for tactic in tactics:
            after = self._play(state, tactic)
            if after is not None and len(after.goals) == len(state.goals) - 1:
                return [MinedStep(str(state), tactic, str(after))], after
        return None

    def _apart(self, state: GoalState, tactics: Sequence[str], depth: int) -> _Closed | None:
        for tactic in tactics:
            after = self._play(state, tactic)
            if after is None:
                continue
            steps = [MinedStep(str(state), tactic, str(after))]
            others = len(state.goals) - 1
            free = tactic.startswith("intro")  # an introduction takes nothing apart
            while len(after.goals) > others:
                found = self._close(after, depth if free else depth - 1)
                if found is None:
                    break
                steps += found[0]
                after = found[1]
            else:
                return steps, after
        return None

    def _play(self, state: GoalState, tactic: str) -> GoalState | None:
        if self._left <= 0:
            return None
        self._left -= 1
        try:
            return self.server.goal_tactic(
                state,
                tactic,
                Site(0, auto_resume=True),
                options={"maxHeartbeats": self.budget.heartbeats},
                timeout=TACTIC_SECONDS,
            )
        except (EngineLostError, StaleStateError):
            raise
        except LeanError:
            return None
