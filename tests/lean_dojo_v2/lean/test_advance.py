"""A step is worth what Lean can finish through it: on the embedded engine and on a plain one."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.advance import Rung, distance, judge_step
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.points import (
    ProofPoint,
    expression_point,
    goal_point,
    theorem_point,
)

FILE = """\
namespace Way

def double : Nat → Nat
  | 0 => 0
  | n + 1 => double n + 2

theorem given_up (n : Nat) : double n = 7 := sorry

axiom oracle (n : Nat) : double n = 8

theorem double_eq (n : Nat) : double n = n + n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [double]
    rw [ih]
    omega

theorem chain (p q r s : Prop) (hpq : p → q) (hqr : q → r) (hrs : r → s) : p → s := by
  intro hp
  apply hrs
  apply hqr
  exact hpq hp

theorem roundabout (a b : Nat) (h : double a = double b) : double a + 0 = double b := by
  have useless : 1 = 1 := rfl
  rw [Nat.add_zero]
  exact h

theorem both (p : Nat → Prop) (h : ∀ n, p n → p (n + 1)) (h0 : p 0) : p 1 ∧ p 2 := by
  constructor
  · exact h 0 h0
  · apply h
    exact h 0 h0

theorem wrong (n : Nat) (p : Prop) (hp : p) : double n = n + 1 ∧ p := by
  sorry

end Way
"""


def source(name: str) -> SourceTheorem:
    lines = FILE.splitlines()
    [start] = [n for n, line in enumerate(lines, 1) if line.startswith(f"theorem {name} ")]
    end = start
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    place = (end, len(lines[end - 1]) + 1)
    return SourceTheorem(FILE, f"Way.{name}", "Way.lean", (start, 1), place)


def point_at(server: Server, name: str, tactic: str) -> ProofPoint:
    theorem = source(name)
    start = theorem.text.index(tactic, theorem.offset(theorem.start))
    return theorem_point(server, theorem, theorem.places.position(start))


HUMAN = [
    ("double_eq", "induction n with", None),
    ("double_eq", "rfl", "solved"),
    ("double_eq", "rw [double]", "advanced"),
    ("double_eq", "rw [ih]", "advanced"),
    ("double_eq", "omega", "solved"),
    ("chain", "intro hp", "advanced"),
    ("chain", "apply hrs", "advanced"),
    ("chain", "apply hqr", "advanced"),
    ("chain", "exact hpq hp", "solved"),
    ("roundabout", "have useless : 1 = 1 := rfl", "advanced"),
    ("roundabout", "rw [Nat.add_zero]", "advanced"),
    ("roundabout", "exact h", "solved"),
    ("both", "constructor", "advanced"),
    ("both", "· exact h 0 h0", "advanced"),
    ("both", "apply h\n", "advanced"),
]


@pytest.mark.parametrize(("name", "tactic", "verdict"), HUMAN, ids=[row[1] for row in HUMAN])
def test_the_steps_of_a_proof_are_advances(engine, name, tactic, verdict):
    point = point_at(engine, name, tactic)
    if verdict is not None:
        assert judge_step(engine, point, tactic.strip()).verdict == verdict


def test_distances_are_counted_from_the_end(engine):
    far = distance(engine, point_at(engine, "chain", "intro hp"))
    assert (far.steps, far.rung) == (4, Rung.AUTOMATION)
    near = distance(engine, point_at(engine, "chain", "exact hpq hp"))
    assert near.steps == 1
    # What the traced proof does in vain is no distance.
    assert distance(engine, point_at(engine, "roundabout", "have useless")).steps == 1
    assert distance(engine, point_at(engine, "double_eq", "rw [double]")).steps == 3
    assert distance(engine, goal_point(engine, "n : Nat\n⊢ n + 0 = n")).rung is Rung.TRIVIAL
    unknown = distance(engine, expression_point(engine, "∀ p q : Prop, p ∨ q"))
    assert (unknown.steps, unknown.rung) == (None, Rung.UNKNOWN)


OTHER_WAYS = [
    ("chain", "intro hp", "intro hp", "advanced"),
    ("chain", "intro hp", "exact fun hp => hrs (hqr (hpq hp))", "solved"),
    ("chain", "apply hrs", "refine hrs (hqr ?_)", "advanced"),
    ("chain", "apply hrs", "have hq := hpq hp", "unproven"),
    ("double_eq", "rw [double]", "simp only [double, ih]", "advanced"),
    ("both", "constructor", "refine ⟨h 0 h0, ?_⟩", "advanced"),
    ("roundabout", "rw [Nat.add_zero]", "simp [h]", "solved"),
]


@pytest.mark.parametrize(("name", "at", "tactic", "verdict"), OTHER_WAYS)
def test_other_ways_to_the_end(engine, name, at, tactic, verdict):
    assert judge_step(engine, point_at(engine, name, at), tactic).verdict == verdict


USELESS = [
    "skip", "have := trivial", "have h1 : 1 = 1 := rfl", "exfalso", "apply absurd hp", "symm",
    "suffices h1 : 1 = 2 by omega", "refine nomatch (?_ : (0:Nat) = 1)", "refine ?_",
    "refine Bool.noConfusion (?_ : true = false)", "refine (?_ : _ ∧ 1 = 1).1",
    "rw [← Nat.add_zero n]", "apply Int.ofNat.inj", "by_contra h1", "apply PLift.down",
    "refine PLift.down ?_", "apply Classical.byContradiction", "refine Classical.byContradiction ?_",
    "have h1 : 1 = 2 := ?_", "have h1 : ∀ a b : Nat, a = b := ?_", "(have h1 : 1 = 2 := ?_; skip)",
    "(have h1 : False := ?_; have h2 : False := ?_; exact h2.elim)", "refine False.elim ?_",
    "refine ⟨?_, ?_⟩", "refine And.left (b := True) ?_", "refine of_eq_true ?_",
    "(revert n; intro n)", "revert n", "revert hp", "revert h", "generalize 1 = k", "clear hp",
    "refine absurd ?_ (Nat.lt_irrefl 0)", "apply Fin.elim0", "apply Empty.elim", "refine id ?_",
    "by_cases h1 : 1 = 2", "rcases Nat.lt_or_ge 1 2 with _ | _", "have h1 := Nat.add_comm",
    "refine cast (?_ : True = _) trivial", "change _", "show _", "nomatch (?_ : False)",
    "refine (fun h1 => h1 : _ → _) ?_", "refine Eq.mp ?_ trivial", "apply propext_iff.mp",
    "(obtain h1 := (fun h _ => h : ∀ (h : 1 = 2) (_ : h = h), 1 = 2) _; apply absurd h1)",
    "(refine (fun (h1 : 1 = 2) (_ : h1 = h1) => absurd h1 (by decide)) ?_ ?_; rotate_left; rfl)",
    "exact (?_ : 1 = 2).elim", "let k := 1", "rename_i k", "refine Nat.lt_irrefl 0 ?_",
]  # fmt: skip
"""Open at nearly every goal, a step nearer to the end at none of those below."""

STUCK = [
    ("roundabout", "rw [Nat.add_zero]"), ("both", "constructor"), ("chain", "apply hqr"),
    *(pytest.param(*row, marks=pytest.mark.slow) for row in (
        ("double_eq", "rw [double]"), ("wrong", "sorry"))),
]  # fmt: skip


HELPS = {("both", "refine ⟨?_, ?_⟩")}


@pytest.mark.parametrize(("name", "at"), STUCK)
def test_what_helps_nowhere_is_no_advance(engine, name, at):
    point = point_at(engine, name, at)
    useless = [tactic for tactic in USELESS if (name, tactic) not in HELPS]
    found = {tactic: judge_step(engine, point, tactic) for tactic in useless}
    assert {t: str(o.verdict) for t, o in found.items() if o.advances} == {}


FALSE_ENDS = [
    "refine ⟨?_, hp⟩", "constructor", "exact ⟨given_up n, hp⟩", "simp [given_up]", "cases n",
    "exact absurd (given_up 0) (by decide)", "exact absurd (oracle 0) (by decide)", "induction n",
    "refine ⟨(given_up n).trans ?_, hp⟩", "have := oracle n", "have := given_up 0",
    "exact absurd ((given_up 0).symm.trans (oracle 0)) (by decide)", "exact ⟨wrong n p hp |>.1, hp⟩",
    "(have := given_up 0; simp [double] at this)", "cases (oracle 0)", "exact ⟨by decide, hp⟩",
]  # fmt: skip


def test_no_step_towards_a_false_goal_is_paid(engine):
    point = point_at(engine, "wrong", "sorry")
    found = {tactic: judge_step(engine, point, tactic) for tactic in FALSE_ENDS}
    assert {t: str(o.verdict) for t, o in found.items() if o.advances} == {}


def test_a_state_knows_its_distance_for_the_next_one_who_asks(engine, monkeypatch):
    point = point_at(engine, "both", "constructor")
    judge_step(engine, point, "skip")
    asked = []
    run = Server.run
    monkeypatch.setattr(
        Server, "run", lambda self, cmd, *a, **k: (asked.append(cmd), run(self, cmd, *a, **k))[1]
    )
    for _ in range(4):
        judge_step(engine, point, "skip")
    assert len(asked) <= 4 * 4  # parsed, run, read; nothing is closed again


def test_a_goal_without_a_theorem_has_the_ladder_alone(engine):
    start = expression_point(engine, "∀ n : Nat, n + 0 = n ∧ True")
    assert judge_step(engine, start, "skip").verdict is Verdict.UNPROVEN
    assert judge_step(engine, start, "exact fun n => ⟨rfl, trivial⟩").verdict is Verdict.SOLVED
    moved = judge_step(engine, start, "intro n")
    assert moved.verdict is Verdict.ADVANCED, "`trivial` closes what is left"
    text = goal_point(engine, "n : Nat\nh : n = 0\n⊢ 0 = n")
    assert judge_step(engine, text, "exact h.symm").verdict is Verdict.SOLVED
    assert judge_step(engine, text, "rw [h]").verdict is Verdict.SOLVED
