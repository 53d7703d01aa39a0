"""Tactics and whole proofs before real Lean: what holds, what does not, and every trick."""

from __future__ import annotations

import re

import pytest

from lean_dojo_v2.lean.errors import EngineLostError, LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.proofs import check_goal_proof, check_proof
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.lean.verify.states import open_step, open_theorem
from lean_dojo_v2.lean.verify.tactics import check_tactic

FILE = """\
/-! A file with context: a namespace, variables, options, a definition, a cheat. -/
namespace Zoo

universe u

variable {α : Type u} [DecidableEq α]

open Nat

def double (n : Nat) : Nat := n + n

theorem double_zero : double 0 = 0 := by
  rfl

theorem given_up : double 1 = 3 := sorry

private theorem double_add (n m : Nat) : double (n + m) = double n + double m := by
  unfold double
  omega

theorem add_comm' (n m : Nat) : n + m = m + n := by
  induction n with
  | zero => simp
  | succ n ih =>
    rw [Nat.add_right_comm, ih, Nat.add_assoc]

theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · exact hp
  · exact hq

theorem same (a b : α) (h : a = b) : b = a := h.symm

mutual
theorem even_odd : ∀ n : Nat, n = n := fun _ => rfl
theorem odd_even : ∀ n : Nat, n + 0 = n := fun _ => rfl
end

theorem «strange name» (x : Nat) (f : Nat → Nat := fun y => y) : f x = f x := rfl

theorem last : double 2 = 4 := by decide

end Zoo
"""


@pytest.fixture
def source(theorem_in):
    return lambda name, text=FILE: theorem_in(text, f"Zoo.{name}")


# --- whole proofs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "proof"),
    [
        ("double_zero", "rfl"),
        ("double_zero", "show 0 + 0 = 0\nsimp"),
        ("last", "exact rfl"),
        ("last", "have h := double_zero\nrfl"),
        ("double_add", "unfold double\nomega"),
        (
            "add_comm'",
            "induction n with\n| zero => simp\n| succ n ih =>\n  rw [Nat.add_right_comm, ih, Nat.add_assoc]",
        ),
        ("add_comm'", "omega  -- done"),
        ("both", "constructor\n· exact hp\n· exact hq"),
        ("both", "exact ⟨hp, hq⟩"),
        ("same", "subst h\nrfl"),
        ("same", "exact h.symm"),
        ("odd_even", "intro n\nrfl"),
        ("last", "decide +kernel"),
        ("both", "refine ⟨?_, ?_⟩ <;> assumption"),
        ("both", "-- the theorem, where both hold\r\nexact ⟨hp, hq⟩\r\n"),
        (
            "add_comm'",
            "let rec go : (k : Nat) → k + m = m + k\n  | 0 => Nat.zero_add m\n"  # noqa: ISC004
            "  | k + 1 => by rw [Nat.succ_add, go k]; rfl\nexact go n",
        ),
    ],
)
def test_true_proofs_hold(engine, name, proof, source):
    outcome = check_proof(engine, source(name), proof)
    assert (outcome.valid, outcome.detail) == (True, "")


@pytest.mark.parametrize("proof", ["exact hp", "apply hp"])
def test_a_hypothesis_hides_the_theorem_of_its_name(engine, theorem_in, proof):
    text = "namespace Zoo\ntheorem hp (p : Prop) (hp : p) : p := sorry\n\nend Zoo\n"
    outcome = check_proof(engine, theorem_in(text, "Zoo.hp"), proof)
    assert (outcome.valid, outcome.detail) == (True, "")


@pytest.mark.parametrize("statement", ["Unknown.x = 1", "(1 : Nat) + = 2", "(1 : Nat) = true"])
def test_no_proof_is_blamed_for_a_statement_that_does_not_elaborate(engine, theorem_in, statement):
    text = f"namespace Zoo\ntheorem wrong : {statement} := sorry\n\nend Zoo\n"
    source = theorem_in(text, "Zoo.wrong")
    with pytest.raises(LeanError, match=r"of Zoo\.wrong does not elaborate: 2:.*error: "):
        check_proof(engine, source, "rfl")


def test_a_goal_may_end_in_a_comment(engine):
    assert check_goal_proof(engine, "∀ n : Nat, n = n -- easy", "intro n; rfl").valid


STUCK = """\
namespace Zoo

def Q : Prop := 1 = 1
noncomputable instance : Decidable Q := Classical.propDecidable Q
macro "ask" : tactic => `(tactic| decide +kernel)
theorem stuck : Q := sorry

end Zoo
"""


def test_where_the_kernel_refuses_lean_tries_something_else(engine, theorem_in):
    for asked in ("ask", "decide +kernel"):
        outcome = check_proof(
            engine, theorem_in(STUCK, "Zoo.stuck"), f"first\n| {asked}\n| exact rfl"
        )
        assert (outcome.valid, outcome.detail) == (True, "")


def test_what_only_the_kernel_refuses_fails_with_leans_own_message(engine, theorem_in):
    asked, hidden = (
        check_proof(engine, theorem_in(STUCK, "Zoo.stuck"), proof)
        for proof in ("decide +kernel", "ask")
    )
    assert "`decide` failed" in asked.detail.replace("'", "`")
    assert (hidden.valid, hidden.refusal) == (asked.valid, asked.refusal) == (False, None)
    assert hidden.error_line == asked.error_line


def test_a_local_recursion_has_to_end(engine, source):
    proof = "let rec go (k : Nat) : double k = 3 := go k\nexact go 1"
    assert "termination" in check_proof(engine, source("given_up"), proof).detail


LED = """\
namespace Zoo

/-- Not its own docstring. -/
def one := 1

/-- A docstring with `open Nat in` in it. -/
theorem documented : one = 1 := sorry

open Nat in
/-- Both. -/
theorem opened : succ 0 = 1 := sorry

set_option maxRecDepth 1000 in
open Nat Function
  in
@[simp] theorem twice : succ (succ 0) = 2 := sorry

set_option maxRecDepth 1000 in
-- This is deep.
theorem commented : one = 1 := sorry

/-- A docstring /- with a comment -/ in it. -/ -- and a note
theorem noted : one = 1 := sorry

open Nat in
/- A block. -/
theorem blocked : succ 0 = 1 := sorry

/-!
mutual friends
-/
theorem inner : one = 1 := by
  set_option maxRecDepth 1000 in rfl
set_option maxRecDepth 1000 in
theorem after_inner : one = 1 := sorry

attribute [local simp] one in
theorem attributed : one = 1 := sorry
end Zoo
"""


@pytest.mark.parametrize(
    "name",
    ["documented", "opened", "twice", "commented", "noted", "blocked", "after_inner", "attributed"],
)  # fmt: skip
def test_what_stands_before_a_theorem_belongs_to_its_command(engine, name):
    match = re.search(rf"^(@\[simp\] )?theorem {name} .*sorry$", LED, re.MULTILINE)
    line = LED[: match.start()].count("\n") + 1
    theorem = SourceTheorem(LED, f"Zoo.{name}", "Led.lean", (line, 1), (line, len(match[0]) + 1))
    assert open_theorem(engine, theorem).goals
    assert check_proof(engine, theorem, "rfl").valid


@pytest.mark.parametrize(
    ("name", "proof", "complaint"),
    [
        ("both", "constructor\nexact hp", "unsolved goals"),
        ("both", "constructor\n· exact hp", "unsolved goals"),
        ("last", "simp", "error"),
        ("last", "rfl\nrfl", "No goals|no goals"),
        ("last", "exact double_zero", "error"),
        ("add_comm'", "exact Nat.add_comm m m", "error"),
        ("last", "hello world", "not a block of tactics"),
        ("last", "rfl)\n(rfl", "not a block of tactics"),
        ("last", "exact absurd rfl later", "error"),
    ],
)
def test_false_proofs_do_not(engine, name, proof, complaint, source):
    outcome = check_proof(engine, source(name), proof)
    assert not outcome.valid
    assert re.search(complaint, outcome.detail)
    assert outcome.refusal is None


@pytest.mark.parametrize(
    ("name", "proof", "reason"),
    [
        ("last", "sorry", Reason.SORRY),
        ("last", "exact given_up ▸ (by sorry)", Reason.SORRY),
        ("last", "have := given_up\nsimp [double] at this", Reason.SORRY),
        ("last", "exact absurd given_up (by decide)", Reason.SORRY),
        ("last", "native_decide", Reason.NATIVE),
        ("last", "decide +native", Reason.NATIVE),
        ("last", "exact last", Reason.ITSELF),
        ("last", "exact Zoo.last", Reason.ITSELF),
        ("last", "rfl\n\naxiom cheat : False", Reason.AXIOM),
        ("last", "rfl\n\ntheorem other : True := trivial", Reason.COMMAND),
        ("last", "rfl\n#eval 1", Reason.COMMAND),
        ("last", "set_option debug.skipKernelTC true in\nrfl", Reason.OPTION),
        ("last", "run_tac pure ()", Reason.METAPROGRAM),
        ("last", "open Lean in rfl", Reason.SCOPE),
    ],
)
def test_tricks_are_refused(engine, name, proof, reason, source):
    outcome = check_proof(engine, source(name), proof)
    assert not outcome.valid
    assert outcome.refusal is not None
    assert outcome.refusal.reason is reason


def test_a_theorem_is_not_in_its_own_scope_nor_is_what_follows(engine, source):
    assert not check_proof(engine, source("double_zero"), "simpa using last").valid
    text = FILE.replace(
        "theorem double_zero : double 0 = 0 := by\n  rfl", "theorem first : 1 = 2 := sorry"
    )
    assert not check_proof(engine, source("first", text), "exact first").valid


def test_what_the_file_redefines_counts_against_nobody_but_a_changed_statement_does(engine, source):
    from lean_dojo_v2.lean.verify.proofs import check_declaration

    original = source("both")
    weaker = "theorem both (p q : Prop) (hp : p) (hq : q) : p ∨ q := by\n  exact Or.inl hp"
    outcome = check_declaration(engine, original, weaker)
    assert outcome.refusal is not None
    assert outcome.refusal.reason is Reason.STATEMENT
    renamed = "theorem both (a b : Prop) (x : a) (y : b) : a ∧ b := by\n  exact ⟨x, y⟩"
    assert check_declaration(engine, original, renamed).valid
    other_instance = weaker.replace("p ∨ q", "@And q p")
    assert not check_declaration(engine, original, other_instance).valid


def test_a_definition_is_no_proof(engine, source):
    from lean_dojo_v2.lean.verify.proofs import check_declaration

    as_def = "def both (p q : Prop) (hp : p) (hq : q) : p ∧ q := ⟨hp, hq⟩"
    assert not check_declaration(engine, source("both"), as_def).valid


def test_goals_without_a_file(engine):
    assert check_goal_proof(engine, "∀ n : Nat, n + 0 = n", "intro n\nrfl").valid
    assert not check_goal_proof(engine, "∀ n : Nat, n + 0 = n + 1", "intro n\nrfl").valid
    assert not check_goal_proof(engine, "1 = 2", "exact lean_dojo_goal").valid
    assert not check_goal_proof(engine, "1 = 2", "exact _root_.lean_dojo_goal").valid


def test_the_same_text_with_a_private_type_in_two_files(engine):
    lines = "private inductive P | a\ntheorem only (x : P) : x = .a := sorry\n"
    for path in ("A/Copy.lean", "B/Copy.lean"):
        theorem = SourceTheorem(lines, "only", path, (2, 1), (2, 40))
        outcome = check_proof(engine, theorem, "cases x; rfl")
        assert outcome.valid, outcome.detail


def test_a_goal_is_checked_where_it_was_opened(fresh_engine):
    server = fresh_engine
    server.load_definitions(
        "def f (n : Nat) := n + 1\nprivate def g := f 1\ntheorem given_up : f 1 = 3 := sorry\n"
        'axiom oracle : f 1 = 4\nmacro "finish" : tactic => `(tactic| rfl)\n'
        "namespace Own\nopen Nat"
    )
    for goal, proof in [("f 1 = 2", "rfl"), ("g = 2", "finish"), ("succ 1 = 2", "rfl")]:
        state = server.goal_start(goal)
        assert check_tactic(server, state, proof).verdict is Verdict.SOLVED
        assert check_goal_proof(server, goal, proof).valid
    sorry = check_goal_proof(server, "f 1 = 3", "exact given_up")
    assert sorry.refusal is not None
    assert sorry.refusal.reason is Reason.SORRY
    axiom = check_goal_proof(server, "f 1 = 4", "exact oracle")
    assert axiom.refusal is not None
    assert axiom.refusal.reason is Reason.AXIOM
    server.load_header("def f (n : Nat) := n + 2")
    assert not check_goal_proof(server, "f 1 = 2", "rfl").valid
    assert check_goal_proof(server, "f 1 = 3", "rfl").valid


def test_a_file_that_changed_since_is_said_so(engine):
    stale = SourceTheorem(FILE, "Zoo.last", "Zoo.lean", (4, 1), (4, 11))
    with pytest.raises(LeanError, match=r"Zoo\.lean:4.*changed since"):
        check_proof(engine, stale, "rfl")
    with pytest.raises(LeanError, match="no line 400"):
        check_proof(engine, SourceTheorem(FILE, "Zoo.last", "Zoo.lean", (400, 1), (400, 2)), "rfl")


# --- opening -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["double_zero", "double_add", "add_comm'", "both", "same",
                                  "odd_even", "«strange name»", "last"])  # fmt: skip
def test_theorems_open_with_their_context(engine, name, source):
    state = open_theorem(engine, source(name))
    assert len(state.goals) == 1
    if name == "same":
        assert [v.name for v in state.goals[0].variables] == ["α", "inst✝", "a", "b", "h"]


def test_an_exact_replay_reaches_the_state_of_a_tactic(engine, source):
    theorem = source("add_comm'")
    line = FILE[: FILE.index("    rw [Nat.add_right_comm")].count("\n") + 1
    state = open_step(engine, theorem, (line, 5))[0]
    assert str(state) == "case succ\nm n : Nat\nih : n + m = m + n\n⊢ n + 1 + m = m + (n + 1)"
    assert (
        check_tactic(engine, state, "rw [Nat.add_right_comm, ih, Nat.add_assoc]").verdict
        is Verdict.SOLVED
    )
    second = FILE[: FILE.index("  · exact hq")].count("\n") + 1
    assert str(open_step(engine, source("both"), (second, 5))[0]).endswith("⊢ q")


def test_the_opened_theorem_cannot_be_cited(engine, source):
    state = open_theorem(engine, source("last"))
    assert check_tactic(engine, state, "exact last").verdict is Verdict.FAILED


def test_a_statement_that_does_not_elaborate_is_an_error(engine, source):
    text = FILE.replace("double 2 = 4", "triple 2 = 4")
    with pytest.raises(LeanError, match="does not elaborate"):
        open_theorem(engine, source("last", text))


# --- single tactics ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tactic", "verdict"),
    [
        ("constructor", Verdict.UNPROVEN),
        ("exact ⟨hp, hq⟩", Verdict.SOLVED),
        ("exact And.intro hp hq", Verdict.SOLVED),
        ("constructor <;> assumption", Verdict.SOLVED),
        ("refine ⟨hp, ?_⟩", Verdict.UNPROVEN),
        ("skip", Verdict.UNPROVEN),
        ("have := trivial", Verdict.UNPROVEN),
        ("have h2 := hp", Verdict.UNPROVEN),
        ("refine ?_", Verdict.UNPROVEN),
        ("revert hp; intro hp", Verdict.UNPARSED),
        ("(revert hp; intro hp)", Verdict.UNPROVEN),
        ("rename p => r", Verdict.UNPROVEN),
        ("clear hq", Verdict.UNPROVEN),
        ("by_cases h : True", Verdict.UNPROVEN),
        ("simp at *", Verdict.FAILED),
        ("exact hp", Verdict.FAILED),
        ("assumption", Verdict.FAILED),
        ("The proof is simple.", Verdict.UNPARSED),
        ("```lean", Verdict.UNPARSED),
        ("simp)", Verdict.UNPARSED),
        ("constructor; exact hp; exact hq", Verdict.UNPARSED),
        ("sorry", Verdict.REFUSED),
        ("exact (sorry)", Verdict.REFUSED),
        ("constructor\n· exact hp", Verdict.UNPARSED),
    ],
)
def test_every_verdict(engine, tactic, verdict, source):
    state = open_theorem(engine, source("both"))
    outcome = check_tactic(engine, state, tactic)
    assert outcome.verdict is verdict, outcome.detail
    assert (outcome.state is not None) == (verdict in {Verdict.SOLVED, Verdict.UNPROVEN})


def test_siblings_stay_and_count(engine, source):
    state = open_theorem(engine, source("both"))
    two = check_tactic(engine, state, "constructor").state
    assert two is not None
    assert len(two.goals) == 2
    first = check_tactic(engine, two, "exact hp")
    assert first.verdict is Verdict.UNPROVEN
    assert first.state is not None
    assert [goal.target for goal in first.state.goals] == ["q"]
    second = check_tactic(engine, two, "exact hq", goal_index=1)
    assert second.state is not None
    assert [goal.target for goal in second.state.goals] == ["p"]
    assert check_tactic(engine, first.state, "exact hq").verdict is Verdict.SOLVED


BOMBS = [
    "exact Nat.rec (motive := fun _ => p ∧ q) ⟨hp, hq⟩ (fun _ h => h) (2 ^ 2 ^ 2 ^ 20)",
    "exact (by decide : 10 ^ 10 ^ 10 > 0) |>.elim",
    "repeat (have := hp)",
    "exact (fun x => x x) (fun x => x x)",
    "simp (config := { maxSteps := 100000000 }) [Nat.add_comm, Nat.add_assoc, hp]",
    "exact (List.range 100000000).foldl (· + ·) 0 |> fun _ => ⟨hp, hp⟩",
    "iterate 100000000 (have := hp)",
]


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_after_a_bomb_the_next_answer_is_right(engine, bomb, source):
    state = open_theorem(engine, source("both"))
    outcome = check_tactic(engine, state, bomb, timeout=5)
    assert outcome.verdict not in {Verdict.UNPARSED, Verdict.REFUSED}, "it has to reach Lean"
    fresh = open_theorem(engine, source("both"))
    assert check_tactic(engine, fresh, "exact ⟨hp, hq⟩").verdict is Verdict.SOLVED
    assert check_tactic(engine, fresh, "exact ⟨hq, hp⟩").verdict is Verdict.FAILED


def test_an_endless_proof_is_ended(engine, source):
    endless = "skip"
    for _ in range(6):
        endless = f"(iterate 9 (try {endless}; have := hp))"
    with pytest.raises(EngineLostError):
        check_proof(engine, source("both"), f"{endless}\nexact ⟨hp, hq⟩", timeout=1)
    assert check_proof(engine, source("both"), "exact ⟨hp, hq⟩").valid


BROKEN_CONTEXT = """\
namespace Zoo

set_option autoImplicit false
mutual
inductive Ev : Nat → Prop | z : Ev 0 | s : Od missing → Ev 1
inductive Od : Nat → Prop | s (n : Nat) : Ev n → Od (n + 1)
end

theorem odd_three : Od 3 := by
  sorry

theorem fine : 1 = 1 := by
  sorry

end Zoo
"""


def test_a_statement_that_rests_on_an_error_cannot_be_opened(engine, theorem_in):
    source = theorem_in(BROKEN_CONTEXT, "Zoo.odd_three")
    assert not check_proof(engine, source, "exact .s (.s (.s .z))").valid
    with pytest.raises(LeanError, match="Unknown identifier `missing`"):
        open_theorem(engine, source)
    assert check_proof(engine, theorem_in(BROKEN_CONTEXT, "Zoo.fine"), "rfl").valid
