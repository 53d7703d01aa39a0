"""Best-first search before real Lean."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from types import SimpleNamespace

import attrs
import psutil
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.data.lines import one_line
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.problem import GoalProblem, TheoremProblem
from lean_dojo_v2.prover.search import best_first, theorem
from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.search.result import Failure
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree
from lean_dojo_v2.prover.suggestion import GeneratorError, Suggestion

CHAIN = {"⊢ r": [("apply hqr", -1.0)], "⊢ q": [("apply hpq", -1.0)], "⊢ p": [("exact hp", -0.5)]}


def search(generator, problems, engine, *, progress=None, **settings):
    chosen = ProverConfig(**settings)
    return BestFirstSearch(generator, chosen, progress).run(problems, [engine])


# --- finding proofs ------------------------------------------------------------------------------


def test_a_proof_of_several_steps(engine, zoo, scripted):
    [result] = search(scripted(CHAIN), [zoo("chain")], engine)
    assert result.success
    assert result.tactics == ("apply hqr", "apply hpq", "exact hp")
    assert result.proof == "apply hqr\napply hpq\nexact hp"
    assert result.name == "Zoo.chain"
    assert result.expansions == 3
    assert result.lean_calls >= 5  # the root, three tactics, the whole proof
    assert result.reason is None
    assert result.seconds > 0


def test_a_generator_is_told_what_tactics_may_begin_with(engine, zoo, scripted):
    told = []

    class Told:
        def generate(self, goals, *, num_samples, premises=(), words=()):
            told.append([[word.begin(text) for text in ("apply ", "To prove")] for word in words])
            return scripted(CHAIN).generate(goals, num_samples=num_samples)

    [result] = search(Told(), [zoo("chain")], engine)
    assert result.success
    assert told == [[[True, False]]] * 3


def test_every_one_of_several_goals(engine, zoo, scripted):
    tactics = {"⊢ p ∧ q": [("constructor", -0.1)], "case left": [("exact hp", -0.1)],
               "⊢ q": [("exact hq", -2.0)]}  # fmt: skip
    [result] = search(scripted(tactics), [zoo("both")], engine)
    assert result.tactics == ("constructor", "exact hp", "exact hq")
    # Without the last step one goal stays open, and that is no proof.
    del tactics["⊢ q"]
    [result] = search(scripted(tactics), [zoo("both")], engine)
    assert not result.success
    assert result.tactics is None
    assert result.reason is Failure.EXHAUSTED


def test_branches_that_lead_nowhere(engine, zoo, scripted):
    tactics = {
        "⊢ q ∨ p": [("left", -0.1), ("exact h", -0.2), ("hello world", -0.3), ("cases h", -3.0)],
        "case inl": [("right", -0.1), ("assumption", -0.2)],
        "⊢ q": [("assumption", -0.2)],
        "case inr": [("left", -0.1)],
        "⊢ p": [("assumption", -0.1)],
    }
    [result] = search(scripted(tactics), [zoo("or_swap")], engine)
    assert result.success
    assert result.tactics[0] == "cases h"
    root = result.tree.nodes[0]
    assert root.failures == {"failed": 2, "unparsed": 1}


def test_a_bare_goal(engine, scripted):
    goal = GoalProblem("∀ n : Nat, n + 0 = n")
    [result] = search(scripted({"∀": [("intro n", -1.0)], "⊢ n": [("rfl", -1.0)]}), [goal], engine)
    assert result.tactics == ("intro n", "rfl")


def test_a_tactic_with_cases_is_written_in_its_one_line(engine, scripted):
    """As it is learned: the cases are left open, and proved one after the other."""
    line = one_line("induction n with\n| zero => rfl\n| succ n ih =>\n  omega")
    generator = scripted(
        {
            "⊢ 0 + n = n": [(line, -1.0)],
            "⊢ ∀ (n : Nat)": [("intro n", -1.0)],
            "case succ": [("omega", -1.0)],
        }
    )
    [result] = search(generator, [GoalProblem("∀ n : Nat, 0 + n = n")], engine)
    assert result.tactics == ("intro n", line, "omega", "omega")


def test_states_that_differ_in_names_alone_are_one(engine, zoo, scripted):
    renamings = [(f"rcases h with a{k} | b{k}", -k) for k in range(3)]
    generator = scripted({"⊢ q ∨ p": renamings})
    [result] = search(generator, [zoo("or_swap")], engine)
    assert result.reason is Failure.EXHAUSTED
    assert len(result.tree.nodes) == 2
    assert len(generator.states) == 2


def test_a_hypothesis_without_a_name_can_be_given_one_and_used(engine, zoo, scripted):
    """`rename_i` changes nothing but a name, and yet more can be said after it."""
    generator = scripted(
        {
            "h✝ : p\n⊢ q ∨ p": [("rename_i hp", -1.0)],
            "hp : p\n⊢ q ∨ p": [("exact Or.inr hp", -1.0)],
            "h✝ : q\n⊢ q ∨ p": [("rename_i hq", -1.0)],
            "hq : q\n⊢ q ∨ p": [("exact Or.inl hq", -1.0)],
            "h : p ∨ q\n⊢ q ∨ p": [("cases h", -1.0)],
        }
    )
    [result] = search(generator, [zoo("or_swap")], engine)
    assert result.tactics == (
        "cases h", "rename_i hp", "exact Or.inr hp", "rename_i hq", "exact Or.inl hq",
    )  # fmt: skip


def test_the_same_proposal_is_tried_once(engine, zoo, scripted):
    generator = scripted({"⊢ r": [("exact hp", -3.0), (" exact hp ", -1.0), ("exact hp", -2.0)]})
    [result] = search(generator, [zoo("chain")], engine)
    assert result.lean_calls == 3, "the root, what it says, and one tactic"
    assert result.tree.nodes[0].failures == {"failed": 1}


# --- what counts as a proof ----------------------------------------------------------------------


def test_a_proof_that_the_whole_check_refuses_does_not_count(engine, zoo, scripted):
    """Nothing is open after either tactic, but they rest on an axiom and on a `sorry`."""
    tactics = {
        "⊢ double 1 = 5": [("exact cheat.elim", -0.1), ("exact absurd given_up (by decide)", -0.2)]
    }
    [result] = search(scripted(tactics), [zoo("wrong")], engine)
    assert not result.success
    assert result.tactics is None
    assert result.refused_proofs == 2
    assert [node.status for node in result.tree.nodes[1:]] == [NodeStatus.PROOF_REFUSED] * 2
    [one, two] = result.tree.nodes[0].failures
    assert "cheat" in one
    assert "sorry" in two


def test_a_refused_proof_does_not_end_the_search(engine, zoo, scripted):
    tactics = {"⊢ p ∧ q": [("exact cheat.elim", -0.1), ("exact ⟨hp, hq⟩", -5.0)]}
    [result] = search(scripted(tactics), [zoo("both")], engine)
    assert result.tactics == ("exact ⟨hp, hq⟩",)
    assert result.refused_proofs == 1


def test_garbage_proves_nothing(engine, zoo, scripted):
    garbage = ["", "sorry", "admit", "exact both p q hp hq", "rfl\nrfl", "((((", "\x00", "⊢" * 500,
               "simp -- done", "open Nat in rfl", "`" * 50, "apply?", "\ud800"]  # fmt: skip
    tactics = {"⊢": [(text, -float(i)) for i, text in enumerate(garbage)]}
    [result] = search(scripted(tactics), [zoo("both")], engine)
    assert result.reason is Failure.EXHAUSTED
    assert len(result.tree.nodes) == 1


def test_a_theorem_that_does_not_compile_cannot_be_opened(engine, zoo, scripted):
    problems = [
        zoo("broken"),
        zoo("both", "import No.Such.Module\n" + zoo("both").source.text),
        zoo("both"),
    ]
    missing, no_import, fine = search(scripted({"⊢": [("exact ⟨hp, hq⟩", -1)]}), problems, engine)
    assert missing.reason is Failure.CANNOT_OPEN
    assert "Zoo.broken" in missing.detail or "no_such_thing" in missing.detail
    assert no_import.reason is Failure.CANNOT_OPEN
    assert "No.Such.Module" in no_import.detail
    assert fine.success


# --- limits --------------------------------------------------------------------------------------


def endless(samples=1000):
    """Always new states: the target grows."""
    grow = [(f"have h{k} : {k} = {k} + 0 := rfl", -1.0 - k) for k in range(1, samples)]
    return {"⊢": grow}


def test_max_expansions_and_num_sampled_tactics(engine, zoo, scripted):
    generator = scripted(endless())
    [result] = search(generator, [zoo("both")], engine, max_expansions=4, num_sampled_tactics=3)
    assert result.reason is Failure.EXPANSIONS
    assert result.expansions == len(generator.states) == 4
    assert generator.samples == {3}
    assert len(result.tree.nodes) <= 1 + 4 * 3


@pytest.fixture
def asked(monkeypatch):
    """What Lean was asked, one entry a question, in order."""
    log = []

    def spy(owner, name):
        ask = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: log.append(name) or ask(*a, **k))

    for owner, name in [
        (theorem.lean, "check_tactic"), (theorem.lean, "state_digest"),
        (TheoremProblem, "open"), (TheoremProblem, "check"),
    ]:  # fmt: skip
        spy(owner, name)
    return log


def test_lean_calls_are_counted_one_by_one_and_never_exceed_their_limit(
    engine, zoo, scripted, asked
):
    [free] = search(scripted(CHAIN), [zoo("chain")], engine)
    assert free.lean_calls == len(asked)
    assert free.lean_calls == 8, "the root and what it says, 3 tactics, 2 new states, the proof"
    for limit in range(4, free.lean_calls + 1):
        asked.clear()
        [result] = search(scripted(CHAIN), [zoo("chain")], engine, lean_calls=limit)
        assert result.lean_calls == len(asked) <= limit
        assert result.success is (limit == free.lean_calls)
        if not result.success:
            assert result.reason is Failure.LEAN_CALLS
            assert result.detail == f"no proof within {limit} Lean calls"


def test_the_time_limit(engine, zoo, scripted):
    [result] = search(scripted(endless()), [zoo("both")], engine, timeout=0.5)
    assert result.reason is Failure.TIMED_OUT
    assert "0.5 s" in result.detail
    assert result.ended_by_clock


def test_time_spent_on_generation_counts(engine, zoo, scripted):
    class Slow(scripted):
        def generate(self, goals, *, num_samples, premises=()):
            time.sleep(0.6)
            return super().generate(goals, num_samples=num_samples)

    generator = Slow(endless(2))
    [result] = search(generator, [zoo("both")], engine, timeout=0.5)
    assert result.reason is Failure.TIMED_OUT
    assert len(generator.batches) == 1


def test_the_theorems_of_a_batch_share_the_time_of_its_generation(
    engine, zoo, scripted, monkeypatch
):
    """By a clock that only the generator moves on, four times as far as one theorem may take."""
    now = 0.0

    class Slow(scripted):
        def generate(self, goals, *, num_samples, premises=()):
            nonlocal now
            now += 400.0
            return super().generate(goals, num_samples=num_samples)

    monkeypatch.setattr(best_first, "time", SimpleNamespace(monotonic=lambda: now))
    names = ["both", "chain", "or_swap", "double_add"]
    limits = {"timeout": 150.0, "max_expansions": 1}
    results = search(Slow({}), [zoo(name) for name in names], engine, **limits, batch_size=4)
    assert [result.reason for result in results] == [Failure.EXPANSIONS] * 4


def test_several_theorems_share_batches(engine, zoo, scripted):
    problems = [zoo("chain")] * 3 + [zoo("both")]
    generator = scripted({**CHAIN, "⊢ p ∧ q": [("exact ⟨hp, hq⟩", -1.0)]})
    results = search(generator, problems, engine, batch_size=3)
    assert all(result.success for result in results)
    assert [result.name for result in results] == ["Zoo.chain"] * 3 + ["Zoo.both"]
    sizes = [len(batch) for batch in generator.batches]
    assert max(sizes) > 1
    assert max(sizes) <= 3
    assert sum(sizes) == 3 * 3 + 1


@pytest.fixture
def opened(engine, fresh_engine, monkeypatch):
    """Which of two engines opened which file, in order."""
    log = []
    for number, server in enumerate((engine, fresh_engine)):

        def spy(command, fields, *, number=number, request=server.request_state):
            log.append((fields["fileName"], number))
            return request(command, fields)

        monkeypatch.setattr(server, "request_state", spy)
    return log


def test_a_file_is_elaborated_by_one_engine(engine, fresh_engine, opened, zoo, scripted):
    files = ["A.lean", "B.lean", "B.lean", "A.lean", "B.lean", "A.lean"]
    problems = [TheoremProblem(attrs.evolve(zoo("chain").source, file_path=file)) for file in files]
    plan = BestFirstSearch(scripted(CHAIN), ProverConfig())
    assert all(result.success for result in plan.run(problems, [engine, fresh_engine]))
    assert sorted(opened) == [("A.lean", 0)] * 3 + [("B.lean", 1)] * 3
    opened.clear()  # a later search finds each file where it is
    assert all(result.success for result in plan.run(problems[1:], [engine, fresh_engine]))
    assert sorted(opened) == [("A.lean", 0)] * 2 + [("B.lean", 1)] * 3


def test_a_long_file_is_shared_by_the_engines(engine, fresh_engine, opened, zoo, scripted):
    plan = BestFirstSearch(scripted(CHAIN), ProverConfig(batch_size=2))
    results = plan.run([zoo("chain")] * 8, [engine, fresh_engine])
    assert all(result.success for result in results)
    assert {number for _, number in opened} == {0, 1}


def test_one_theorem_at_a_time(engine, zoo, scripted):
    generator = scripted(CHAIN)
    results = search(generator, [zoo("chain")] * 2, engine, batch_size=1)
    assert all(result.success for result in results)
    assert {len(batch) for batch in generator.batches} == {1}


def test_results_come_as_soon_as_they_are_known(engine, zoo, scripted):
    generator = scripted({"⊢ p ∧ q": [("exact ⟨hp, hq⟩", -1.0)], "⊢ r": endless(9)["⊢"]})
    plan = BestFirstSearch(generator, ProverConfig(batch_size=2))
    results = plan.results([zoo("chain"), zoo("both")], [engine])
    index, first = next(results)
    assert (index, first.success) == (1, True)
    results.close()  # the other is given up, at once


def test_a_search_needs_an_engine(zoo, scripted):
    plan = BestFirstSearch(scripted({}))
    with pytest.raises(UsageError, match="Lean server"):
        plan.run([zoo("both")], [])


# --- what goes wrong on the way ------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_engine_is_replaced_and_the_states_replayed(fresh_engine, zoo, scripted):
    class Killing(scripted):
        def generate(self, goals, *, num_samples, premises=()):
            if len(self.batches) in {1, 3}:
                os.kill(fresh_engine.pid, signal.SIGKILL)
                with contextlib.suppress(psutil.NoSuchProcess):
                    psutil.Process(fresh_engine.pid).wait(10)
            return super().generate(goals, num_samples=num_samples)

    both = {"⊢ p ∧ q": [("constructor", -1.0)], "case left": [("exact hp", -0.1)],
            "case right": [("exact hq", -1.0)]}  # fmt: skip
    problems = [zoo("chain"), zoo("both")]
    quiet = search(scripted({**CHAIN, **both}), problems, fresh_engine, batch_size=2)
    generator = Killing({**CHAIN, **both})
    chain, pair = search(generator, problems, fresh_engine, batch_size=2)
    assert [chain.lean_calls, pair.lean_calls] == [result.lean_calls for result in quiet]
    assert chain.tactics == ("apply hqr", "apply hpq", "exact hp")
    assert pair.tactics == ("constructor", "exact hp", "exact hq")


def test_an_engine_that_cannot_start_is_said(zoo, scripted, monkeypatch):
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", "/nonexistent/pantograph-repl")
    server = Server(engine="native", start=False)
    [result] = search(scripted(CHAIN), [zoo("chain")], server)
    assert result.reason is Failure.ENGINE
    assert "pantograph" in result.detail


class Failing:
    """Fails at the given calls."""

    def __init__(self, generator, calls):
        self.generator = generator
        self.calls = calls
        self.count = -1

    def generate(self, goals, *, num_samples, premises=()):
        self.count += 1
        if self.count in self.calls:
            raise GeneratorError("no answer")
        return self.generator.generate(goals, num_samples=num_samples)


def test_a_generator_that_fails_once_costs_one_batch(engine, zoo, scripted):
    failing = Failing(scripted(CHAIN), {1})
    results = search(failing, [zoo("chain")] * 3, engine, batch_size=1)
    assert [result.reason for result in results].count(Failure.GENERATOR) == 1
    assert [result.success for result in results].count(True) == 2


@pytest.mark.parametrize("calls", [range(100), range(2, 100)])
def test_a_generator_that_fails_for_good_ends_the_search(engine, zoo, scripted, calls):
    failing = Failing(scripted(CHAIN), calls)
    with pytest.raises(GeneratorError, match="no answer"):
        search(failing, [zoo("chain")] * 9, engine, batch_size=1)
    assert failing.count <= 4


# --- the order -----------------------------------------------------------------------------------

TWO_WAYS = {
    "⊢ q ∨ p": [("cases h", -1.0), ("have a := h.symm", -0.5)],
}


class Likes:
    """Predicts few steps after a tactic that holds a word."""

    def __init__(self, word):
        self.word = word
        self.steps = []

    def predict(self, steps):
        self.steps += steps
        return [1.0 if self.word in step.tactic else 9.0 for step in steps]


def test_progress_changes_the_order(engine, zoo, scripted):
    def second_state(progress):
        generator = scripted(TWO_WAYS)
        search(generator, [zoo("or_swap")], engine, progress=progress, max_expansions=2)
        return generator.states[1]

    assert "a : q ∨ p" in second_state(None)
    likes = Likes("cases")
    assert "case inl" in second_state(likes)
    first = likes.steps[0]
    assert (first.prefix, first.tactic) == ("", "have a := h.symm")
    assert first.before.endswith("⊢ q ∨ p")
    assert "a : q ∨ p" in first.after
    assert "a : q ∨ p" in second_state(Likes("have"))


def test_progress_sees_the_tactics_before(engine, zoo, scripted):
    likes = Likes("")
    search(scripted(CHAIN), [zoo("chain")], engine, progress=likes)
    assert [(step.prefix, step.tactic) for step in likes.steps] == [
        ("", "apply hqr"),
        ("apply hqr", "apply hpq"),
    ]


def test_length_exponent_favours_long_paths(engine, zoo, scripted):
    """Depth first where the mean log-probability decides, breadth first where the sum does."""
    tactics = {
        "⊢ r": [("apply hqr", -1.0), ("have a := hqr (hpq hp)", -1.5)],
        "⊢ q": [("have b := hpq hp", -0.9)],
    }

    def third_state(exponent):
        generator = scripted(tactics)
        search(generator, [zoo("chain")], engine, length_exponent=exponent, max_expansions=3)
        return generator.states[2]

    assert third_state(0.0).endswith("⊢ r")
    assert third_state(1.0).endswith("⊢ q")


# --- the tree ------------------------------------------------------------------------------------


def test_the_tree_is_saved_and_loaded(engine, zoo, scripted, tmp_path):
    [result] = search(scripted(CHAIN), [zoo("chain")], engine)
    tree = result.tree
    assert [node.status for node in tree.nodes] == [NodeStatus.EXPANDED] * 3 + [NodeStatus.SOLVED]
    assert [node.depth for node in tree.nodes] == [0, 1, 2, 3]
    assert tree.nodes[3].logprob == pytest.approx(-2.5)
    tree.save(tmp_path / "tree.json")
    again = SearchTree.load(tmp_path / "tree.json")
    assert again == tree
    assert again.tactics(again.nodes[3]) == list(result.tactics)


def test_on_batch_tells_of_every_state(engine, zoo, scripted):
    told = []
    plan = BestFirstSearch(scripted(CHAIN))
    list(plan.results([zoo("chain")], [engine], told.extend))
    assert [(name, node.depth, s) for name, node, s in told] == [
        ("Zoo.chain", 0, [Suggestion("apply hqr", -1.0)]),
        ("Zoo.chain", 1, [Suggestion("apply hpq", -1.0)]),
        ("Zoo.chain", 2, [Suggestion("exact hp", -0.5)]),
    ]
