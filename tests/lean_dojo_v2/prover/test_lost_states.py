"""What a search keeps when a state is lost with its engine and Lean cannot reach it again."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineMemoryError
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.prover.search.best_first import BestFirstSearch


def endless() -> str:
    """A tactic that outlasts its time, and so costs the engine its life."""
    tactic = "skip"
    for _ in range(6):
        tactic = f"(iterate 9 (try {tactic}; have := hp))"
    return tactic


class Shaky(TheoremProblem):
    """A theorem whose file Lean cannot read the second time it is asked."""

    opened = 0

    def open(self, server: Server) -> GoalState:
        type(self).opened += 1
        if self.opened == 2:
            server.goal_start("no_such_thing")
        return super().open(server)


class Full(TheoremProblem):
    """A theorem for whose imports the engine had no room left the first time."""

    opened = 0

    def open(self, server: Server) -> GoalState:
        type(self).opened += 1
        if self.opened == 1:
            raise EngineMemoryError("env.start: full. The next call starts a new engine.")
        return super().open(server)


def test_a_theorem_that_a_full_engine_cannot_open_is_opened_once_more(engine, zoo, scripted):
    proposals = {"⊢ p ∧ q": [("exact ⟨hp, hq⟩", -0.1)]}
    [result] = BestFirstSearch(scripted(proposals)).run([Full(zoo("both").source)], [engine])
    assert result.tactics == ("exact ⟨hp, hq⟩",)
    assert Full.opened == 2


@pytest.mark.slow
def test_states_found_before_a_state_is_lost_are_searched(fresh_engine, zoo, scripted):
    proposals = {
        "⊢ p ∧ q": [("constructor", -0.1), (endless(), -0.2), ("exact ⟨hq, hp⟩", -0.3)],
        "case left": [("exact hp", -0.1)],
        "case right": [("exact hq", -0.1)],
    }
    plan = BestFirstSearch(scripted(proposals), ProverConfig(tactic_seconds=1.0))
    [result] = plan.run([Shaky(zoo("both").source)], [fresh_engine])
    root = result.tree.nodes[0]
    assert root.failures["timed_out"] == result.ended_by_clock == 1
    assert any("state lost" in failure for failure in root.failures)
    assert result.tactics == ("constructor", "exact hp", "exact hq")
