"""The same seeds give the same proofs: on a busy machine, and whatever is searched beside."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import contextmanager

import pytest

from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.suggestion import Suggestion

TACTICS = [
    "constructor", "left", "right", "cases h", "assumption", "exact hp", "exact hq", "apply hqr",
    "apply hpq", "simp_all", "exact Or.inl ‹_›", "exact Or.inr ‹_›", "unfold double", "omega",
]  # fmt: skip
NAMES = ["both", "chain", "or_swap", "double_add", "wrong"]


class Drawing:
    """Draws tactics at random, by the seeds that the search gives; it keeps them."""

    def __init__(self):
        self.seeds = []

    def generate(self, goals, *, num_samples, premises=(), seeds=()):
        self.seeds += seeds
        return [self.draw(seed, num_samples) for seed in seeds]

    @staticmethod
    def draw(seed, count):
        source = random.Random(seed)
        return [Suggestion(source.choice(TACTICS), -3 * source.random()) for _ in range(count)]


@contextmanager
def busy_machine():
    """Two processes that do nothing but take time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.fixture
def found(engine, zoo):
    """Search; give for each theorem what came out, by its name."""

    def search(names=NAMES, batch_size=12, seed=0, **limits):
        generator = Drawing()
        limits = limits or {"max_expansions": 6, "visits": 2}
        settings = ProverConfig(num_sampled_tactics=3, batch_size=batch_size, seed=seed, **limits)
        problems = [zoo(name) for name in names]
        results = BestFirstSearch(generator, settings).run(problems, [engine])
        assert not any(result.ended_by_clock for result in results)
        assert len(set(generator.seeds)) == len(generator.seeds)
        return {
            result.name: (result.tactics, result.expansions, result.lean_calls, result.tree)
            for result in results
        }

    return search


@pytest.mark.slow
def test_a_busy_machine_and_other_batches_change_nothing(found):
    quiet = found()
    assert {tactics is not None for tactics, *_ in quiet.values()} == {True, False}
    with busy_machine():
        assert found(batch_size=2) == quiet
    assert found(names=NAMES[::-1], batch_size=1) == quiet
    assert found(names=NAMES[:1], batch_size=3) == {"Zoo.both": quiet["Zoo.both"]}


@pytest.mark.slow
def test_so_it_is_with_a_limit_of_lean_calls(found):
    limits = {"lean_calls": 12, "visits": 9}
    quiet = found(**limits)
    assert {tactics is not None for tactics, *_ in quiet.values()} == {True, False}
    assert max(calls for *_, calls, _ in quiet.values()) in {11, 12}
    with busy_machine():
        assert found(names=NAMES[::-1], batch_size=2, **limits) == quiet


@pytest.mark.slow
def test_another_seed_is_another_search(found):
    assert found(seed=1) != found(seed=2)
