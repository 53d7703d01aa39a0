"""What ``benchmarks/guidance.py`` computes of searches."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks" / "guidance.py")))


def test_where_a_search_had_a_choice(script, tmp_path):
    tree = SearchTree("t")
    root = tree.add(None, "", "⊢ r", 0.0, 0.0)
    first, second = (tree.add(root, text, "⊢ a", -1.0, 1.0) for text in ("a", "b"))
    tree.add(first, "c", "no goals", -2.0, 0.0).status = NodeStatus.SOLVED
    for number, node in enumerate((root, second, first), 1):
        node.expansions.append(number)
        node.status = NodeStatus.EXPANDED
    tree.save(tmp_path / "trees" / "prover" / "t.json")
    # The root alone; then two states wait; then what is left of them.
    assert sorted(script.had_a_choice(tmp_path, visits=1)) == [False, False, True]


def test_settings_are_chosen_one_after_the_other(script):
    """Each with the best of those before; of equal ones the first."""
    worth = {"4-16-0.5": 1, "2-16-0.5": 2, "1-16-0.5": 2, "2-8-0.5": 3, "2-8-0.0": 1}
    asked = []

    def run(name, problems, choice):
        asked.append(choice.name)
        return choice.name

    lab = SimpleNamespace(run=run, quality=lambda found: (worth[found], 0.0))
    assert script.choose(lab, []).name == "2-8-0.5"
    assert set(asked) == set(worth)


def test_without_a_hard_theorem_there_is_nothing_to_measure(script):
    problems = [SimpleNamespace(full_name=name) for name in ("easy", "hard")]
    found = {"easy": [SimpleNamespace(expansions=3)], "hard": [SimpleNamespace(expansions=4)]}
    assert [p.full_name for p in script.hard(problems, found, "--val")] == ["hard"]
    with pytest.raises(UsageError, match="larger --val"):
        script.hard(problems[:1], found, "--val")


def test_an_interval_of_paired_differences(script):
    assert script.interval([0.0] * 5) == [0.0, 0.0, 0.0]
    mean, low, high = script.interval([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    assert mean == 0.5
    assert 0.0 < low < mean < high < 1.0
    assert script.interval([1.0, 0.0, 1.0]) == script.interval([1.0, 0.0, 1.0])


def test_a_search_without_a_proof_costs_its_whole_budget(script):
    def attempt(expansions, *, success):
        return SimpleNamespace(success=success, expansions=expansions)

    lab = SimpleNamespace(expansions=10)
    lab.cost = lambda one: script.Laboratory.cost(lab, one)
    none = {"a": [attempt(8, success=True)], "b": [attempt(3, success=False)]}
    mine = {"a": [attempt(4, success=True)], "b": [attempt(10, success=True)]}
    found = script.summary(lab, mine, none)
    assert found["proofs of a seed"] == [2]
    assert found["mean expansions"] == 7.0
    assert found["share proved, more than none"][0] == 0.5
    assert found["expansions, more than none"][0] == -2.0
    assert script.Laboratory.quality(lab, none) == (0.5, -9.0)
