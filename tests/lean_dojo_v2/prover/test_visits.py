"""States are sampled anew when nothing else is left, if that is asked for."""

from __future__ import annotations

from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.search.result import Failure
from lean_dojo_v2.prover.suggestion import Suggestion
from lean_dojo_v2.runs.progress import latest_progress


class Improving:
    """Proposes a wrong tactic at first, and a right one when it is asked again."""

    def __init__(self) -> None:
        self.calls = 0

    def generate(self, goals, *, num_samples, premises=()):
        self.calls += 1
        found = [Suggestion("skip", -0.1)]
        if self.calls > 2:
            found.append(Suggestion("exact ⟨hp, hq⟩", -1.0))
        return [found for _ in goals]


def search(engine, problem, expansions=None, **settings):
    generator = Improving()
    chosen = ProverConfig(max_expansions=expansions, **settings)
    [result] = BestFirstSearch(generator, chosen).run([problem], [engine])
    return result, generator.calls


def test_once_is_the_default(engine, zoo):
    result, calls = search(engine, zoo("both"))
    assert (result.success, result.reason, calls) == (False, Failure.EXHAUSTED, 1)


def test_a_later_draw_may_hold_the_proof_and_repeats_nothing(engine, zoo):
    result, calls = search(engine, zoo("both"), visits=5)
    assert result.success
    assert calls == result.expansions == 3
    assert result.tree.nodes[0].failures["seen before"] == 1, "a tactic is tried once at a state"


def test_the_expansion_limit_holds(engine, zoo):
    result, calls = search(engine, zoo("both"), visits=5, expansions=2)
    assert (result.success, result.reason, calls) == (False, Failure.EXPANSIONS, 2)


def test_a_state_that_stays_open_is_weighed_against_its_children(engine, zoo, scripted):
    """Each visit costs; a cheap one is made before a child, a dear one after it."""
    tactics = {"⊢ r": [("have a := hqr (hpq hp)", -2.0)], "⊢ q": []}

    def states(cost):
        generator = scripted(tactics)
        settings = ProverConfig(max_expansions=2, visits=3, revisit_cost=cost)
        BestFirstSearch(generator, settings).run([zoo("chain")], [engine])
        return ["a : r" in state for state in generator.states]

    assert states(1.0) == [False, False]
    assert states(3.0) == [False, True]
    assert states(None) == [False, True]


def test_a_long_search_says_which_theorem_it_is_at(engine, zoo):
    """`prove` prints it when nothing was said for a while."""
    said = []

    class Listening(Improving):
        def generate(self, goals, *, num_samples, premises=()):
            said.append(latest_progress())
            return super().generate(goals, num_samples=num_samples, premises=premises)

    problem = zoo("both")
    chosen = ProverConfig(visits=5)
    [result] = BestFirstSearch(Listening(), chosen).run([problem], [engine])
    assert said == [
        f"searching {problem.name}, {n} states expanded".replace("1 states", "1 state")
        for n in range(3)
    ]
    assert str(result).startswith(f"{problem.name}: proved")
