"""What a theorem's own file brings: its syntax, and the declarations of its mutual block."""

from __future__ import annotations

from contextlib import suppress

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.proofs import check_declaration, check_proof
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.lean.verify.states import open_step, open_theorem
from lean_dojo_v2.lean.verify.tactics import check_tactic

OWN_SYNTAX = """\
namespace Zoo

def glue (a b : Nat) : Nat := a + b

infixl:65 " ⋄ " => glue

macro "finish" : tactic => `(tactic| exact Nat.add_comm _ _)

macro "cheat" : tactic => `(tactic| sorry)

private axiom propext : (0 : Nat) = 1

theorem glue_comm (a b : Nat) : a ⋄ b = b ⋄ a := by
  finish

end Zoo
"""


@pytest.mark.parametrize(
    ("proof", "valid"),
    [
        ("finish", True),
        ("show a ⋄ b = b ⋄ a\nexact Nat.add_comm a b", True),
        ("cheat", False),
        ("exact absurd propext (by decide)", False),
        ("show a ⋄ b = b ⋄ a\n)", False),
    ],
)
def test_a_files_own_syntax_is_known_and_its_tricks_are_seen(engine, theorem_in, proof, valid):
    outcome = check_proof(engine, theorem_in(OWN_SYNTAX, "Zoo.glue_comm"), proof)
    assert outcome.valid is valid, outcome.detail


MUTUAL = """\
namespace Zoo

mutual
def even : Nat → Bool
  | 0 => true
  | n + 1 => odd n
def odd : Nat → Bool
  | 0 => false
  | n + 1 => even n
end

mutual
theorem even_double : ∀ n : Nat, even (n + n) = true
  | 0 => rfl
  | n + 1 => by rw [show n + 1 + (n + 1) = n + n + 1 + 1 by omega, even]; exact odd_double n
theorem odd_double : ∀ n : Nat, odd (n + n + 1) = true
  | 0 => rfl
  | n + 1 => by rw [odd]; exact even_double (n + 1)
end

end Zoo
"""


def test_declarations_of_a_mutual_block_may_cite_each_other(engine, theorem_in):
    first = theorem_in(MUTUAL, "Zoo.even_double")
    assert check_declaration(engine, first, first.declaration).valid
    wrong = first.declaration.replace("0 => rfl", "0 => sorry")
    assert not check_declaration(engine, first, wrong).valid


CARDINALITY = """\
namespace Zoo

prefix:max "#" => List.length

theorem length_append (s t : List Nat) : #(s ++ t) = #t + #s := by
  show #(s ++ t) = #t + #s
  rw [List.length_append, Nat.add_comm]

end Zoo
"""


def test_notation_that_begins_with_a_hash_is_no_command(engine, theorem_in):
    theorem = theorem_in(CARDINALITY, "Zoo.length_append")
    state = open_theorem(engine, theorem)
    counted = check_tactic(engine, state, "have h : #s = #s := rfl")
    assert counted.verdict is Verdict.UNPROVEN
    assert check_tactic(engine, state, "simp [Nat.add_comm #t #s]").verdict is Verdict.SOLVED
    assert check_tactic(engine, state, "rw [show #u = 1 from rfl]").verdict is Verdict.FAILED
    assert check_proof(engine, theorem, "have h : #s = #s := rfl\nsimp [Nat.add_comm #t #s]").valid


@pytest.mark.parametrize(
    "trick",
    [
        "#eval (0 : Nat)",
        "#print axioms Nat",
        "trivial #check Nat",
        "exact (#eval (0 : Nat)",
        "#exit",
    ],
)
def test_commands_with_a_hash_stay_commands(engine, theorem_in, trick):
    theorem = theorem_in(CARDINALITY, "Zoo.length_append")
    tactic = check_tactic(engine, open_theorem(engine, theorem), trick)
    assert tactic.refusal is not None
    assert tactic.refusal.reason is Reason.COMMAND
    proof = check_proof(engine, theorem, f"simp [Nat.add_comm]\n{trick}")
    assert proof.refusal is not None
    assert proof.refusal.reason is Reason.COMMAND


def test_a_step_after_one_that_cites_the_block_is_opened(engine, theorem_in):
    text = (
        "namespace Zoo\n\nmutual\n"
        "theorem first (n : Nat) : n = n ∧ 1 = 1 := by\n"
        "  have h := @second\n  constructor\n  · rfl\n  · rfl\n"
        "theorem second : 2 = 2 := rfl\n"
        "end\n\nend Zoo\n"
    )
    source = theorem_in(text, "Zoo.first")
    state = open_step(engine, source, (6, 3))[0]
    assert "h : 2 = 2" in str(state)


def test_an_error_before_a_step_is_an_error_and_no_other_state(engine, theorem_in):
    text = (
        "namespace Zoo\n\n"
        "theorem odd (p : Prop) (hp : p) : p := by\n"
        "  have h : 1 = 1 := nonsense\n  exact hp\n\nend Zoo\n"
    )
    with pytest.raises(LeanError, match="there is an error before it"):
        open_step(engine, theorem_in(text, "Zoo.odd"), (5, 3))


def test_braces_are_opened_as_what_they_are(engine, theorem_in):
    text = (
        "namespace Zoo\n\n"
        "theorem pair (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n"
        "  constructor\n  { exact hp }\n  { exact hq }\n\nend Zoo\n"
    )
    source = theorem_in(text, "Zoo.pair")
    state = open_step(engine, source, (5, 3))[0]
    assert len(state.goals) == 2
    assert len(engine.goal_tactic(state, "{ exact hp }").goals) == 1


def test_the_word_sorry_in_a_string_is_a_string(engine, theorem_in):
    text = 'namespace Zoo\n\ntheorem said : "sorry".length = 5 := by\n  rfl\n\nend Zoo\n'
    source = theorem_in(text, "Zoo.said")
    assert '"sorry"' in str(open_theorem(engine, source))
    assert check_proof(engine, source, "rfl").valid


@pytest.mark.slow
def test_what_a_theorem_states_follows_the_modules_that_it_imports(tmp_path):
    module = tmp_path / "Lib.lean"
    text = "import Lib\n\ntheorem small : Lib.size < 9 := by\n  decide\n"
    theorem = SourceTheorem(text, "small", "Main.lean", (3, 1), (4, 9))
    with Server(engine="embedded", project_path=tmp_path) as server:
        for size in (2, 3):
            module.write_text(f"def Lib.size := {size}\n")
            outcome = check_proof(server, theorem, "decide")
            assert outcome.valid, outcome.detail


SLOW = (
    "".join(
        f"theorem lemma{i} (a b c d : Nat) (h : a + b < c) (k : c < d) : a + b + {i} < d + {i} := "
        "by omega\n"
        for i in range(40)
    )
    + "instance (priority := high) two : OfNat Nat 2 := ⟨Nat.succ (Nat.succ (Nat.succ Nat.zero))⟩\n"
)


@pytest.mark.parametrize(
    "limit", [100, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (10, 300, 900))]
)
def test_what_a_time_limit_cuts_short_is_not_kept(engine, theorem_in, limit):
    """Without the instance behind the slow lemmas, the first theorem would hold."""
    start = f"-- {limit}\nnamespace Zoo\n\n{SLOW}\ntheorem target : "
    text = f"{start}Nat.succ (Nat.succ Nat.zero) = 2 := by\n  sorry\n\nend Zoo\n"
    honest = f"{start}1 + 1 = Nat.succ 1 := by\n  sorry\n\nend Zoo\n"
    engine.ask("options.set", {"timeout": limit})
    for file in (text, honest):
        with suppress(LeanError):
            check_proof(engine, theorem_in(file, "Zoo.target"), "exact rfl")
    engine.ask("options.set", {"timeout": 0})
    assert not check_proof(engine, theorem_in(text, "Zoo.target"), "exact rfl").valid
    assert check_proof(engine, theorem_in(honest, "Zoo.target"), "exact rfl").valid
