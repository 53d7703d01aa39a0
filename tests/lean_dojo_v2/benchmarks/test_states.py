"""Searched states: what becomes of each, what is written down, what a kill leaves."""

from __future__ import annotations

import attrs
import pytest

from lean_dojo_core.errors import DataError
from lean_dojo_core.records import BenchmarkProblem, Theorem
from lean_dojo_v2.benchmarks.states import SearchedState, StateFile, states_of
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree

PROBLEM = BenchmarkProblem(full_name="t", statement="theorem t : x :=", split="easy")


def grown(*, solved: bool = True) -> SearchTree:
    """A search of four expansions: a dead end, a proof of two tactics, and a state that waits.

    0 ── 1 (expanded second, nothing below)
      ├─ 2 (expanded third) ── 4 (waits)
      │                     └─ 5 (proof)
      └─ 3 (expanded fourth) ── 6 (waits)
    """
    tree = SearchTree("t")
    root = tree.add(None, "", "⊢ r", 0.0, 0.0)
    children = [tree.add(root, f"to {k}", f"⊢ {k}", -float(k), float(k)) for k in (1, 2, 3)]
    tree.add(children[1], "on", "⊢ 4", -2.5, 2.5)
    if solved:
        tree.add(children[1], "done", "no goals", -2.2, 0.0).status = NodeStatus.SOLVED
    tree.add(children[2], "away", "⊢ 6", -4.0, 4.0)
    for number, node in enumerate([root, *children], 1):
        node.expansions.append(number)
        node.status = NodeStatus.EXPANDED
    return tree


def test_what_becomes_of_each_state():
    rows = {one.state: one for one in states_of(PROBLEM, 1, grown())}
    assert list(rows) == ["⊢ r", "⊢ 1", "⊢ 2", "⊢ 3"], "what waits has no outcome"
    found = {
        state: (one.solved, one.steps, one.expansions, one.waiting) for state, one in rows.items()
    }
    assert found == {
        "⊢ r": (True, 2, 4, 2),
        "⊢ 1": (False, None, 1, 0),
        "⊢ 2": (True, 1, 1, 1),
        "⊢ 3": (False, None, 1, 1),
    }
    first = rows["⊢ 2"]
    assert (first.theorem, first.attempt, first.node, first.depth) == ("t", 1, 2, 1)
    assert first.logprob == -2.0


def test_a_state_that_was_visited_again_cost_more():
    tree = grown()
    tree.nodes[1].expansions.append(5)
    assert [one.expansions for one in states_of(PROBLEM, 0, tree)] == [5, 2, 1, 1]


def test_without_a_proof_nothing_is_solved():
    assert not any(one.solved for one in states_of(PROBLEM, 0, grown(solved=False)))


def test_a_limit_says_yes_no_or_that_nobody_knows():
    root, dead, best, cut = states_of(PROBLEM, 0, grown())
    assert [one.solved_within(None) for one in (root, dead, best, cut)] == [
        True, False, True, False,
    ]  # fmt: skip
    # The dead end is one for ever; below the last state something still waited.
    assert [one.solved_within(2) for one in (root, dead, best, cut)] == [
        False, False, True, None,
    ]  # fmt: skip
    assert cut.solved_within(1) is False


def test_a_traced_theorem_keeps_its_own_split():
    splits = set()
    for number in range(30):
        theorem = Theorem(f"T.t{number}", "T.lean", (1, 1), (2, 1), "https://example.org/a/b", "c")
        problem = attrs.evolve(PROBLEM, theorem=theorem, split="sorry")
        [first, *_] = states_of(problem, 0, grown())
        assert first.split == split_of(theorem)
        assert first.is_held_out == (first.split != "train")
        splits.add(first.split)
    assert splits == {"train", "val", "test"}


@pytest.mark.parametrize(
    ("split", "held_out"), [("valid", True), ("test", True), ("easy", False), (None, False)]
)
def test_a_problem_of_a_file_has_the_files_split(split, held_out):
    [first, *_] = states_of(attrs.evolve(PROBLEM, split=split), 0, grown())
    assert first.is_held_out == held_out


def test_a_file_keeps_what_was_finished(tmp_path):
    file = StateFile(tmp_path / "prover.states.jsonl")
    for attempt in (0, 1):
        file.append(states_of(PROBLEM, attempt, grown()))
    with file.path.open("ab") as stream:
        stream.write(b'{"theorem": "t", "att')  # the machine went down
    assert len(list(file.read())) == 8
    file.append(states_of(PROBLEM, 2, grown()))
    assert [one.attempt for one in file.read()] == [0] * 4 + [1] * 4 + [2] * 4
    file.keep_only({("t", 0), ("t", 2)})
    assert [one.attempt for one in file.read()] == [0] * 4 + [2] * 4
    before = file.path.stat().st_ino
    file.keep_only({("t", 0), ("t", 2)})
    assert file.path.stat().st_ino == before, "nothing to drop, nothing written"
    StateFile(tmp_path / "none").keep_only(())
    assert all(type(one) is SearchedState for one in file.read())


def test_a_line_of_something_else_is_named(tmp_path):
    (tmp_path / "a.states.jsonl").write_text('{"name": "x"}\n')
    with pytest.raises(DataError, match="line 1: is not a state of a search"):
        list(StateFile(tmp_path / "a.states.jsonl").read())
    with pytest.raises(DataError, match="cannot be read"):
        list(StateFile(tmp_path / "none").read())
