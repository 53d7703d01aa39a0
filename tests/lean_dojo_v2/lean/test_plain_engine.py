"""Checking with Pantograph's own commands alone, as with a native engine: real Lean answers."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.screening import Reason
from lean_dojo_v2.lean.verify.tactics import (
    Verdict,
    check_declaration,
    check_goal_proof,
    check_proof,
    check_tactic,
    open_exact,
    open_theorem,
)

FILE = """\
namespace Plain

variable {α : Type} [DecidableEq α]

def double (n : Nat) : Nat := n + n

axiom oracle : double 1 = 3

theorem given_up : double 1 = 4 := sorry

macro "magic" : tactic => `(tactic| sorry)

theorem target : double 1 = 2 := by
  unfold double
  rfl

private theorem hidden (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  refine ⟨?_, (by exact hq)⟩
  exact hp

mutual
theorem even (p : Prop) (hp : p) : p ∧ p := by
  constructor <;> exact hp
theorem odd (p : Prop) (hp : p) : p ∧ p := by
  constructor
  · exact hp
  · exact hp
end

theorem cases_on (n : Nat) : n = 0 ∨ n = n := by
  induction n with
  | zero => left; rfl
  | succ n ih =>
    right
    rfl

theorem same (a b : α) (h : a = b) : b = a := by
  exact h.symm

end Plain
"""


@pytest.fixture
def plain(plain_engine: Server) -> Server:
    return plain_engine


def source(name: str) -> SourceTheorem:
    lines = FILE.splitlines()
    [start] = [n for n, line in enumerate(lines, 1) if f"theorem {name} " in line]
    end = start
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    place = (end, len(lines[end - 1]) + 1)
    return SourceTheorem(FILE, f"Plain.{name}", "Plain.lean", (start, 1), place)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("target", "⊢ double 1 = 2"),
        ("hidden", "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"),
        ("even", "p : Prop\nhp : p\n⊢ p ∧ p"),
        ("odd", "p : Prop\nhp : p\n⊢ p ∧ p"),
        ("same", "α : Type\ninst✝ : DecidableEq α\na b : α\nh : a = b\n⊢ b = a"),
    ],
)
def test_theorems_open(plain, name, state):
    assert str(open_theorem(plain, source(name))) == state


@pytest.mark.parametrize(
    ("name", "line", "column", "targets"),
    [
        ("target", 1, 3, ["double 1 = 2"]),
        ("target", 2, 3, ["1 + 1 = 2"]),
        ("hidden", 1, 19, ["q"]),
        ("hidden", 2, 3, ["p"]),
        ("even", 1, 19, ["p"]),
        ("odd", 3, 5, ["p"]),
        ("cases_on", 2, 13, ["0 = 0 ∨ 0 = 0"]),
        ("cases_on", 2, 19, ["0 = 0"]),
        ("cases_on", 5, 5, ["n + 1 = n + 1"]),
    ],
)
def test_states_inside_a_proof_open(plain, name, line, column, targets):
    theorem = source(name)
    state = open_exact(plain, theorem, (theorem.start[0] + line, column))
    assert [goal.target for goal in state.goals] == targets


def test_what_does_not_elaborate_is_said(plain):
    text = FILE.replace("double 1 = 2", "triple 1 = 2")
    theorem = SourceTheorem(text, "Plain.target", "Plain.lean", source("target").start,
                            source("target").end)  # fmt: skip
    with pytest.raises(LeanError, match=r"Plain\.lean:13"):
        open_theorem(plain, theorem)


def test_tactics_are_judged(plain):
    state = open_theorem(plain, source("hidden"))
    for tactic, verdict in [
        ("exact ⟨hp, hq⟩", Verdict.SOLVED),
        ("constructor", Verdict.UNPROVEN),
        ("skip", Verdict.UNPROVEN),
        ("exact hp", Verdict.FAILED),
        ("constructor; exact hp", Verdict.UNPARSED),
        ("The proof is simple.", Verdict.UNPARSED),
        ("exact ⟨hp, sorry⟩", Verdict.REFUSED),
        ("magic", Verdict.FAILED),
    ]:
        assert check_tactic(plain, state, tactic).verdict is verdict, tactic


@pytest.mark.parametrize(
    ("name", "proof"),
    [
        ("target", "rfl"),
        ("target", "unfold double\nrfl"),
        ("hidden", "exact ⟨hp, hq⟩"),
        ("hidden", "constructor\n· exact hp\n· exact hq"),
        ("even", "exact ⟨hp, hp⟩"),
        ("odd", "exact ⟨hp, hp⟩"),
        ("cases_on", "exact Or.inr rfl"),
    ],
)
def test_true_proofs_hold(plain, name, proof):
    outcome = check_proof(plain, source(name), proof)
    assert (outcome.valid, outcome.detail) == (True, "")


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        ("sorry", Reason.SORRY),
        ("magic", Reason.SORRY),
        ("exact absurd given_up (by decide)", Reason.SORRY),
        ("exact absurd oracle (by decide)", Reason.AXIOM),
        ("native_decide", Reason.NATIVE),
        ("exact target", Reason.ITSELF),
        ("exact rfl\n\naxiom more : False", Reason.AXIOM),
        ("set_option debug.skipKernelTC true in rfl", Reason.OPTION),
        ("exact hidden_from_view", None),
        ("exact (rfl : 1 = 2)", None),
        ("rfl\nrfl", None),
        ("rfl)\n(rfl", None),
        ("hello", None),
    ],
)
def test_other_proofs_do_not(plain, proof, reason):
    outcome = check_proof(plain, source("target"), proof)
    assert not outcome.valid
    assert outcome.detail
    assert (outcome.refusal and outcome.refusal.reason) == reason


@pytest.mark.parametrize(
    "declaration",
    [
        "theorem target : double 1 = 1 + 1 := rfl",
        "theorem target : double 1 = 2 ∨ False := Or.inl rfl",
        "def target : double 1 = 2 := rfl\ntheorem more : True := trivial",
        "axiom target : double 1 = 2",
        "theorem target : double 1 = 2 := by native_decide",
        'local notation "double" => id\ntheorem target : double 1 = 2 := by decide',
        "theorem other : double 1 = 2 := rfl",
        "theorem target : double 1 = 2 := rfl\nend Plain\nnamespace Plain",
    ],
)
def test_what_states_something_else_or_more_is_refused(plain, declaration):
    assert not check_declaration(plain, source("target"), declaration).valid


def test_the_same_statement_in_other_words_is_the_same(plain):
    assert check_declaration(
        plain, source("target"), "theorem target : (double 1) = 2 := rfl"
    ).valid


def test_a_goal_is_checked_where_it_was_opened(plain):
    plain.load_definitions("def loaded (n : Nat) := n + 1")
    try:
        assert check_goal_proof(plain, "loaded 1 = 2", "rfl").valid
        assert not check_goal_proof(plain, "loaded 1 = 3", "rfl").valid
    finally:
        plain.restart()


@pytest.mark.parametrize("name", ["engine", "plain_engine"])
def test_a_sequence_of_tactics_is_not_one_tactic(request, name):
    server = request.getfixturevalue(name)
    state = server.goal_start("∀ p : Prop, p → p ∧ p")
    assert server.goal_tactic(state, "intro p h; exact ⟨h, h⟩").is_solved
    for sequence in ("intro p h; exact ⟨h, h⟩", "intro p; skip", "skip; all_goals intro p"):
        assert check_tactic(server, state, sequence).verdict is Verdict.UNPARSED, sequence
    for single in ("(intro p h; exact ⟨h, h⟩)", "intro p h <;> exact ⟨h, h⟩"):
        assert check_tactic(server, state, single).verdict is Verdict.SOLVED, single


def test_heartbeats_are_limited_in_the_text(plain):
    state = open_theorem(plain, source("cases_on"))
    assert check_tactic(plain, state, "omega").verdict is Verdict.SOLVED
    few = check_tactic(plain, state, "omega", heartbeats=1)
    assert few.verdict is Verdict.FAILED
    assert "deterministic" in few.detail
    several = plain.goal_tactic(state, "right\nrfl", options={"maxHeartbeats": 100_000})
    assert several.is_solved


def test_what_a_theorem_states_is_asked_once(plain, monkeypatch):
    texts, process = [], Server.process
    monkeypatch.setattr(
        Server, "process", lambda self, text, **k: (texts.append(text), process(self, text, **k))[1]
    )
    theorem = source("target")
    for proof in ("rfl", "unfold double\nrfl", "simp [double]"):
        assert check_proof(plain, theorem, proof).valid
    assert len(texts) <= 4, "three proofs and the statement"
