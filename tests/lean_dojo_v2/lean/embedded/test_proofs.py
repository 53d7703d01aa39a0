"""A goal is gone only where a proof of it exists; nothing hides behind a delayed assignment."""

from __future__ import annotations

import re
from typing import Any

import pytest

FALSE = "(0 : Nat) = 1"
LOST = "leaves this open, but not as a goal"


def step(lean: Any, state: int, tactic: str, **more: Any) -> Any:
    return lean("goal.tactic", stateId=state, tactic=tactic, axioms=True, **more)


def play(lean: Any, expr: str, *tactics: str) -> Any:
    """Run tactics one after the other, all but the last of which must hold; the last answer."""
    state = lean.start(expr)
    for tactic in tactics[:-1]:
        answer = step(lean, state, tactic)
        assert "nextStateId" in answer, answer
        state = answer["nextStateId"]
    return step(lean, state, tactics[-1])


@pytest.fixture
def given(clean_lean: Any) -> None:
    """Constants that prove what is false."""
    text = (
        "theorem givenUp : 1 = 2 := sorry\naxiom taken : 1 = 2\nunsafe def loop : 1 = 2 := loop\n"
    )
    clean_lean("frontend.process", file=text, inheritEnv=True)


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize("around", ["({})", "(revert hp; intro hp; {})", "(cases hp; {})"])
@pytest.mark.parametrize(
    ("proof", "axioms", "has_sorry", "has_unsafe"),
    [
        ("givenUp", ["sorryAx"], False, False),
        ("taken", ["taken"], False, False),
        ("(sorry : 1 = 2)", ["sorryAx"], True, False),
        ("loop", [], False, True),
        ("rfl : 1 = 1 → 1 = 2", None, None, None),
    ],
)
def test_a_proof_with_an_open_goal_is_seen_to_its_end(
    lean: Any,
    around: str,
    proof: str,
    axioms: list[str] | None,
    has_sorry: bool | None,
    has_unsafe: bool | None,
) -> None:
    tactic = around.format(f"refine absurd {proof} ?_")
    answer = play(lean, "∀ p q : Prop, p ∧ q → p", "intro p q hp", tactic)
    if axioms is None:
        assert "nextStateId" not in answer
        return
    assert len(answer["goals"]) == 1
    assert [answer["axioms"], answer["hasSorry"], answer["hasUnsafe"]] == [
        axioms,
        has_sorry,
        has_unsafe,
    ]


@pytest.mark.usefixtures("given")
def test_a_printed_state_is_seen_to_its_end(lean: Any) -> None:
    tactic = "(revert hp; intro hp; refine absurd (sorry : 1 = 2) ?_)"
    answer = play(lean, "∀ p : Prop, p → p", "intro p hp", tactic)
    printed = lean("goal.print", stateId=answer["nextStateId"])
    assert printed["rootHasSorry"] is True
    assert printed["rootHasMVar"] is True


def test_a_theorem_is_not_proved_by_itself_behind_an_open_goal(lean: Any) -> None:
    text = (
        "theorem loops (n : Nat) : n = n + 0 := by\n"
        "  match n with\n"
        "  | 0 => rfl\n"
        "  | m + 1 =>\n"
        "    exact rfl\n"
    )
    opened = lean("dojo.state_at", file=text, position=text.index("exact"))
    tactic = "(generalize hk : m + 1 = k; revert hk; intro hk; refine (loops k).trans ?_)"
    answer = step(lean, opened["stateId"], tactic)
    assert "nextStateId" not in answer
    assert "loops" in answer["messages"][-1]["data"]


@pytest.mark.parametrize("before", ["", "private "])
@pytest.mark.parametrize("tactic", ["split", "(split <;> simp)", "fun_induction twice n", "simp"])
def test_what_lean_derives_while_it_proves_is_not_the_theorem(
    lean: Any, before: str, tactic: str
) -> None:
    text = (
        f"{before}def twice : Nat → Nat | 0 => 0 | n + 1 => twice n + 2\n"
        f"{before}theorem own (n : Nat) : (match n with | 0 => 1 | k + 1 => k + 1 + twice n) > 0 "
        ":= by\n"
        "  have : twice 0 = 0 := by simp [twice]\n"
        "  fun_induction twice n <;> (split <;> simp)\n"
    )
    opened = lean("dojo.state_at", file=text, position=text.encode().index(b"fun_ind"))
    answer = step(lean, opened["stateId"], tactic)
    assert "nextStateId" in answer or "own" not in answer["messages"][-1]["data"]
    assert "nextStateId" in answer or tactic == "simp", answer
    refused = step(lean, opened["stateId"], "exact own n")
    assert "nextStateId" not in refused


@pytest.mark.parametrize(
    "tactic",
    [
        "cases (?x : False)",
        "cases (?_ : False)",
        "cases h : (?x : False)",
        "rcases (?x : False) with ⟨⟩",
        "obtain ⟨⟩ : False := ?x",
        "injection (?x : (0 : Nat) = 1)",
        "induction (?x : False)",
        "generalize (?x : False) = h",
        "all_goals cases (?x : False)",
        "first | cases (?x : False) | skip",
        "rcases (?x : ∃ n : Fin 0, n = n) with ⟨n, h⟩",
        "(intros; cases (?x : True ∨ False) <;> skip)",
    ],
)
def test_a_goal_that_a_tactic_loses_makes_it_fail(lean: Any, tactic: str) -> None:
    answer = play(lean, FALSE, tactic)
    assert "nextStateId" not in answer
    assert LOST in answer["messages"][-1]["data"]


@pytest.mark.parametrize(
    "tactic",
    ["exact ?x", "exact (?x : False).elim", "apply id ?x", "refine (?x : _)", "refine id ?_"],
)
def test_a_false_goal_never_counts_as_solved(lean: Any, tactic: str) -> None:
    answer = play(lean, FALSE, tactic)
    assert answer.get("goals") != []


def test_what_only_the_goals_speak_of_may_be_found_later(lean: Any) -> None:
    expr = "∀ f : Nat → Nat, (∀ x y, f x = f y) → f 4 = 3 → f 2 = 3"
    opened = play(lean, expr, "intro f h k", "obtain e := h 2 _")
    assert [goal["target"]["pp"] for goal in opened["goals"]] == ["f 2 = 3"]
    between = step(lean, opened["nextStateId"], "refine Eq.symm ?_")
    assert step(lean, between["nextStateId"], "exact (e.trans k).symm")["goals"] == []


def test_what_nobody_finds_is_lost_at_the_end(lean: Any) -> None:
    expr = "∀ p : Fin 0 → Prop, (∀ x, p x ∧ False) → 1 = 2"
    opened = play(lean, expr, "intro p h", "obtain e := h _")
    assert len(opened["goals"]) == 1
    between = step(lean, opened["nextStateId"], "skip")
    answer = step(lean, between["nextStateId"], "exact e.2.elim")
    assert LOST in answer["messages"][-1]["data"]
    assert answer["messages"][-1]["data"].endswith("⊢ Fin 0")
    assert LOST in str(step(lean, between["nextStateId"], "cases e.2"))


HIDE = "(obtain e := (fun h _ => {} : ∀ (h : {}) (_ : h = h), P) _; apply e)"
"""Leaves `?h = ?h`, which is easy, and ?h, of which only that goal speaks."""
HIDE_BY_CASES = """(
  obtain e := (fun (b : Bool) (h : bif b then PLift P else Unit) (k : bif b then Unit else PLift P)
    (_ : b = b) (_ : h = h) (_ : k = k) =>
    (match b, h, k with | true, h, _ => h.down | false, _, k => k.down : P)) _ _ _
  apply e)"""
"""Two that are easy for one value of `?b` each, and for different ones."""


@pytest.mark.parametrize(
    ("expr", "intro", "tactic", "owed"),
    [
        ("∀ P : Prop, P", "intro P", HIDE.format("h", "P"), ["P"]),
        ("∀ P : Prop, P", "intro P", HIDE.format("h.down", "PLift P"), ["PLift P"]),
        ("∀ P : Prop, P", "intro P", HIDE.format("h.2", "{ n : Nat // P }"), ["{ n // P }"]),
        ("∀ P : Prop, P", "intro P", "(let y := P; " + HIDE.format("h", "P")[1:], ["P"]),
        (
            "∀ P : Prop, P",
            "intro P",
            HIDE_BY_CASES,
            ["bif ?_ then Unit else PLift P", "bif ?_ then PLift P else Unit"],
        ),
        ("∀ P : Prop, P → P", "intro P x", HIDE.format("h", "P"), []),
        ("∀ P : Prop, Nonempty (PLift P) → P", "intro P x", HIDE.format("h.down", "PLift P"), []),
        (
            "∀ f : Nat → Nat, (∀ x y, f x = f y) → f 4 = 3 → f 2 = 3",
            "intro f h k",
            "(obtain e := h 2 _; rw [e])",
            [],
        ),
        (
            "∀ (α : Type) (f : α → Nat) (a : α), (∀ x y, f x = f y) → f a = 3",
            "intro α f a h",
            "(obtain e := h a _; rw [e])",
            [],
        ),
        ("∀ a b c : Nat, a = b → b = c → a = c", "intro a b c h k", "apply Eq.trans", []),
        ("∃ n : Nat, n = 3", "skip", "constructor", []),
        ("∃ n : Nat, n = 3", "skip", "refine ⟨?_, ?_⟩", []),
        ("∀ n : Nat, 0 + n = n", "intro n", "induction n", []),
        ("∀ p q : Prop, p ∨ q → q ∨ p", "intro p q h", "rcases h with h | h", []),
    ],
)
def test_what_is_hidden_from_the_goals_is_told(
    lean: Any, expr: str, intro: str, tactic: str, owed: list[str]
) -> None:
    answer = play(lean, expr, intro, tactic)
    assert "nextStateId" in answer, answer
    targets = re.findall(r"^⊢ (.*)$", answer["owed"], re.MULTILINE)
    assert [re.sub(r"\?m\.\d+", "?_", target) for target in targets] == owed


@pytest.mark.parametrize(
    ("expr", "tactics"),
    [
        ("∀ n : Nat, 0 + n = n", ["intro n", "induction n", "rfl", "simp"]),
        ("∀ p q : Prop, p ∧ q → q ∧ p", ["rintro p q ⟨h, k⟩", "constructor", "all_goals trivial"]),
        (
            "∀ p q : Prop, p ∧ q → q ∧ p",
            [
                "intro p q h",
                "refine ⟨?a, ?b⟩",
                "case b => show_term exact h.1",
                "case a => simp [h]",
            ],
        ),
        ("∃ n : Nat, n = 3", ["apply Exists.intro", "rfl"]),
        ("∃ x y : Nat, x + y = 3", ["exists 1", "exists ?y", "case y => exact 2", "rfl"]),
        (
            "∀ a b c : Nat, a = b → b = c → a = c",
            ["intro a b c h k", "apply Eq.trans", "rotate_right", "exact b", "exact h", "exact k"],
        ),
        (
            "∀ a b c : Nat, a = b → b = c → a = c",
            ["intro a b c h k", "calc a = b := h\n _ = c := ?_", "conv => lhs; rw [k]"],
        ),
        (
            "∀ n : Nat, n < 3 → n = 0 ∨ n = 1 ∨ n = 2",
            [
                "intro n h",
                "match n, h with | 0, _ => ?_ | 1, _ => ?_ | 2, _ => ?_",
                "all_goals simp",
            ],
        ),
        ("{n : Nat // n = n}", ["constructor", "rfl", "exact 0"]),
        ("∀ f : Nat → Nat, (∀ x, f x = x) → f 2 = 2", ["intro f h", "have k := h ?n", "exact k"]),
    ],
)
def test_honest_tactics_hold(lean: Any, expr: str, tactics: list[str]) -> None:
    answer = play(lean, expr, *tactics)
    assert answer["goals"] == [], answer
    assert answer["axioms"] in ([], ["propext"])


def test_goals_set_aside_are_not_lost(lean: Any) -> None:
    split = play(lean, "True ∧ ∃ n : Nat, n = 3", "refine ⟨?a, ?b, ?c⟩")
    alone = step(lean, split["nextStateId"], "skip", goalId=2, autoResume=False)
    assert [goal["target"]["pp"] for goal in alone["goals"]] == ["?b = 3"]
    done = step(lean, alone["nextStateId"], "exact rfl")
    assert done["goals"] == []
    back = lean("goal.continue", target=done["nextStateId"], branch=split["nextStateId"])
    assert [goal["userName"] for goal in back["goals"]] == ["a"]
    assert step(lean, back["nextStateId"], "trivial")["goals"] == []
    assert LOST in str(step(lean, back["nextStateId"], "cases (?x : False)"))
