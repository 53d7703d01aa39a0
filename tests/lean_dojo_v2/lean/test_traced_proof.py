"""Where a proof is right and wrong, from the elaboration that gives the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_dojo_core import BenchmarkProblem
from lean_dojo_v2.benchmarks import problem_of
from lean_dojo_v2.lean import LeanError, RequestError, process_after, trace_proof
from lean_dojo_v2.lean.text.source import SourceTheorem

BOTH = "theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q :="


def trace(engine, proof, statement=BOTH, header=""):
    name = statement.split()[1]
    problem = problem_of(BenchmarkProblem(full_name=name, statement=statement, header=header))
    found = trace_proof(engine, problem, proof)
    sound = [proof[one.start : one.end] for one in found.sound]
    failing = found.failing and proof[found.failing.start : found.failing.end]
    return found, sound, failing


@pytest.mark.parametrize(
    ("proof", "sound", "failing", "goals_left"),
    [
        ("constructor\n· exact hp\n· exact hq", ["constructor", "· exact hp", "exact hp", "· exact hq", "exact hq"], None, False),
        ("constructor", ["constructor"], None, True),
        ("constructor\ncase left => exact hp", ["constructor", "case left => exact hp", "exact hp"], None, True),
        ("constructor\n· exact hp\n· exact hp", ["constructor", "· exact hp", "exact hp"], "exact hp", False),
        ("exact ⟨hp, hp⟩", [], "exact ⟨hp, hp⟩", False),
        # what is around the failing tactic is neither sound nor failing
        ("have h : p ∧ q := by\n  constructor\n  · exact hp\n  · rw [foo]\nexact h", ["constructor", "· exact hp", "exact hp"], "rw [foo]", False),
        # a block that ends too early fails as a whole; its tactics hold
        ("constructor\n· have := hp\n· exact hq", ["constructor", "have := hp"], "· have := hp", False),
        ("constructor\n· exact hp\n· exact )", [], "· exact )", False),
        ("sorry", [], None, False),
        ("\n\nrefine ⟨?_, ?_⟩ <;> simp_all; rfl\n", ["refine ⟨?_, ?_⟩ <;> simp_all"], "rfl", False),
    ],
)  # fmt: skip
def test_what_holds_and_what_fails_first(engine, proof, sound, failing, goals_left):
    found, *said = trace(engine, proof)
    assert said == [sound, failing]
    assert found.goals_left is goals_left
    assert found.outcome.valid is (failing is None and not goals_left and bool(sound))


def test_a_tactic_that_changes_nothing_is_told_apart(engine):
    found, sound, _ = trace(engine, "skip\nexact ⟨hp, hq⟩")
    assert sound == ["skip", "exact ⟨hp, hq⟩"]
    assert [one.changes for one in found.sound] == [False, True]


def test_hostile_text_is_refused_before_lean_sees_it(engine):
    for proof in (
        "trivial\n\nend\naxiom mine : False\n",
        "run_tac pure ()",
        "exact both p q hp hq",
    ):
        found, sound, _ = trace(engine, proof)
        assert not found.outcome.valid
        assert sound == []


def test_a_theorem_of_a_file_in_its_context(engine, tmp_path: Path):
    text = "open Nat\nnamespace Ünï\nvariable (n : Nat)\n\n/-- ∀ -/ theorem t : n + 0 = n := by\n  rfl\n\nend Ünï\n"
    start = text.split("\n").index("/-- ∀ -/ theorem t : n + 0 = n := by") + 1
    source = SourceTheorem(text, "Ünï.t", "A.lean", (start, 10), (start + 1, 6))
    proof = "have ε : n + 0 = n := by\n  simp\nexact succ ε"
    found = trace_proof(engine, source, proof)
    assert [proof[one.start : one.end] for one in found.sound] == [
        "have ε : n + 0 = n := by\n  simp",
        "simp",
    ]
    assert found.failing is not None
    assert proof[found.failing.start : found.failing.end] == "exact succ ε"


def test_a_statement_that_does_not_elaborate_is_an_error(engine):
    with pytest.raises(LeanError, match="does not elaborate"):
        trace(engine, "rfl", "theorem t : NoSuch.thing = 1 :=")


def test_a_text_is_elaborated_in_the_scope_of_its_header(engine):
    header = "namespace A\ndef two := 2\nend A\nopen A\nvariable (n : Nat)"
    text = "theorem t : two + n = n + 2 := by\n  exact Nat.add_comm ..\n#check (two : Bool)\n"
    units = process_after(engine, header, text, invocations=True)
    [tactic] = units[0].invocations
    assert text.encode()[tactic.start : tactic.end].decode() == "exact Nat.add_comm .."
    assert units[0].i_begin == 0
    assert units[0].errors == []
    assert units[1].errors[0].pos.line == 3
    with pytest.raises(RequestError, match="The header has an error"):
        process_after(engine, "open Nowhere", text)


def test_declarations_before_the_block_are_no_part_of_it(engine):
    proof = "theorem aux (p : Prop) (h : p) : p := by\n  exact h\n\nconstructor\n· exact aux p hp\n· rw [foo]"
    found, sound, failing = trace(engine, proof)
    assert sound == ["constructor", "· exact aux p hp", "exact aux p hp"]
    assert failing == "rw [foo]"
    assert not found.goals_left
    wrong, sound, failing = trace(engine, proof.replace("exact h\n", "skip\n"))
    assert (wrong.outcome.valid, failing, wrong.goals_left) == (False, "rw [foo]", False)
