"""What a prover says about one state, outside of any search."""

from __future__ import annotations

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.records import Site
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.external import ExternalProver


class Prover(BaseProver):
    """Proposes what it is told to, with what it is told to retrieve."""

    generator = None
    premises = None

    def generate_whole_proof(self, theorem):
        raise AssertionError("not asked for")


@pytest.fixture
def state(engine):
    """Two goals, of which the second knows a variable."""
    start = engine.goal_tactic(engine.goal_start("True ∧ ∀ n : Nat, n = n"), "constructor")
    return engine.goal_tactic(start, "intro n", Site(1))


def goal(state, target):
    return next(i for i, goal in enumerate(state.goals) if goal.target == target)


def test_the_most_probable_tactic_for_one_goal(state, scripted):
    prover = Prover(ProverConfig(num_sampled_tactics=3))
    prover.generator = scripted({"⊢ n = n": [("simp", -2.0), ("rfl", -0.5), ("omega", -1.0)]})
    assert prover.next_tactic(state, goal(state, "n = n")) == "rfl"
    assert prover.next_tactic(state, goal(state, "True")) is None
    assert prover.generator.samples == {3}
    assert prover.generator.states[0] == str(state.goals[goal(state, "n = n")])


def test_a_prover_with_premises_shows_them(state, scripted):
    class Library:
        def retrieve(self, goals, places):
            assert places == [None] * len(goals)
            return [["theorem seen : True"] for _ in goals]

    prover = Prover()
    prover.generator, prover.premises = scripted({"True": [("trivial", -0.1)]}), Library()
    assert prover.next_tactic(state, goal(state, "True")) == "trivial"
    assert prover.generator.premises == [[["theorem seen : True"]]]


def test_goals_that_know_less_come_first(state):
    known = dict(zip([g.target for g in state.goals], Prover().guidance(state), strict=True))
    assert known == {"True": 1.0, "n = n": 0.5}


def test_every_setting_of_the_search_comes_from_the_configuration():
    config = ProverConfig(
        num_sampled_tactics=2, max_expansions=3, heartbeats=4, timeout=5, batch_size=6, visits=7,
        length_exponent=0.8, progress_weight=0.9, revisit_cost=1.0, seed=11,
    )  # fmt: skip
    assert Prover(config).settings == config


@pytest.mark.parametrize("make", [Prover, lambda config: ExternalProver("m", config)])
def test_no_prover_starts_vllm(make):
    with pytest.raises(UsageError, match="vllm serve"):
        make(ProverConfig(use_vllm=True))
