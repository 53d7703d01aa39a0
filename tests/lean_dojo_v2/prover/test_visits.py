"""States are sampled anew when nothing else is left, if that is asked for."""

from __future__ import annotations

from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.search.result import Failure
from lean_dojo_v2.prover.search.theorem import SearchSettings
from lean_dojo_v2.prover.suggestion import Suggestion


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


def search(engine, problem, **settings):
    generator = Improving()
    [result] = BestFirstSearch(generator, SearchSettings(**settings)).run([problem], [engine])
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
    result, calls = search(engine, zoo("both"), visits=5, max_expansions=2)
    assert (result.success, result.reason, calls) == (False, Failure.EXPANSIONS, 2)
