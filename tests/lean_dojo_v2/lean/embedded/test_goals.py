"""Goals and tactics, as Pantograph's protocol has them."""

from __future__ import annotations

from typing import Any

import pytest


def names(answer: Any) -> list[str | None]:
    return [goal.get("userName") for goal in answer["goals"]]


def test_a_proof_from_start_to_end(lean: Any) -> None:
    state = lean.start("∀ (p q : Prop), p ∨ q → q ∨ p")
    intro = lean("goal.tactic", stateId=state, tactic="intro p q h")
    assert intro["pp"] == "p q : Prop\nh : p ∨ q\n⊢ q ∨ p"
    cases = lean("goal.tactic", stateId=intro["nextStateId"], tactic="cases h")
    assert names(cases) == ["inl", "inr"]
    first = lean("goal.tactic", stateId=cases["nextStateId"], tactic="exact Or.inr ‹p›")
    assert names(first) == ["inr"]
    last = lean("goal.tactic", stateId=first["nextStateId"], tactic="exact Or.inl ‹q›")
    assert (last["goals"], last["pp"], last["hasSorry"]) == ([], "no goals", False)
    root = lean("goal.print", stateId=last["nextStateId"], rootExpr=True)
    assert root["root"]["pp"].startswith("fun p q h")
    assert root["rootHasMVar"] is False


def test_a_goal_record_names_what_is_inaccessible(lean: Any) -> None:
    state = lean.start("∀ n : Nat, (∃ k, k = n) → True")
    answer = lean("goal.tactic", stateId=state, tactic="(intro n ⟨_, _⟩; let m := n + 1)")
    (goal,) = answer["goals"]
    variables = {v["userName"]: v for v in goal["vars"]}
    assert variables["n"]["isInaccessible"] is False
    assert variables["w✝"]["isInaccessible"] is True
    assert variables["m"]["value"] == {"pp": "n + 1"}
    assert goal["target"] == {"pp": "True"}
    assert goal["fragment"] == "tactic"


def test_a_tactic_acts_on_the_named_goal_and_siblings_stay(lean: Any) -> None:
    state = lean.start("True ∧ 1 = 1 ∧ 2 = 2")
    split = lean("goal.tactic", stateId=state, tactic="refine ⟨?a, ?b, ?c⟩")
    assert names(split) == ["a", "b", "c"]
    acted = lean("goal.tactic", stateId=split["nextStateId"], goalId=1, tactic="rfl")
    assert names(acted) == ["a", "c"]
    alone = lean(
        "goal.tactic", stateId=split["nextStateId"], goalId=2, autoResume=False, tactic="rfl"
    )
    assert alone["goals"] == []
    back = lean("goal.continue", target=alone["nextStateId"], branch=split["nextStateId"])
    assert names(back) == ["a", "b"]


def test_other_ways_to_act(lean: Any) -> None:
    state = lean.start("1 + 1 = 2")
    have = lean("goal.tactic", stateId=state, have="2 = 1 + 1", binderName="h")
    assert [goal["target"]["pp"] for goal in have["goals"]] == ["2 = 1 + 1", "1 + 1 = 2"]
    assert have["goals"][1]["vars"][0]["userName"] == "h"
    let = lean("goal.tactic", stateId=state, let="Nat", binderName="x")
    assert let["goals"][1]["vars"][0]["value"]["pp"] == "?x"
    assert lean("goal.tactic", stateId=state, expr="rfl")["goals"] == []


@pytest.mark.parametrize(
    ("tactic", "key", "text"),
    [
        ("exact (", "parseError", "unexpected end of input"),
        ("rfl; rfl)", "parseError", "expected end of input"),
        ("exact nothing", "messages", "Unknown identifier `nothing`"),
        ("assumption", "messages", "`assumption` failed"),
        ("done", "messages", "unsolved goals"),
    ],
)
def test_failures_say_why_and_make_no_state(lean: Any, tactic: str, key: str, text: str) -> None:
    answer = lean("goal.tactic", stateId=lean.start("∀ p : Prop, p"), tactic=tactic)
    assert "nextStateId" not in answer
    assert "goals" not in answer
    found = answer[key] if key == "parseError" else answer[key][0]["data"]
    assert text in found


@pytest.mark.parametrize(
    "tactic", ["sorry", "admit", "exact sorry", "exact (by sorry)", "first | sorry"]
)
def test_sorry_is_marked(lean: Any, tactic: str) -> None:
    assert lean("goal.tactic", stateId=lean.start("1 = 2"), tactic=tactic)["hasSorry"] is True


def test_heartbeats_end_a_request_and_not_the_engine(lean: Any) -> None:
    state = lean.start("∀ a b c d : Nat, a * b * c * d = d * c * b * a")
    answer = lean(
        "goal.tactic",
        stateId=state,
        tactic="(intros; simp [Nat.mul_comm, Nat.mul_assoc, Nat.mul_left_comm])",
        options={"maxHeartbeats": 1},
    )
    assert "maximum number of heartbeats (1)" in answer["messages"][-1]["data"]
    refused = lean("goal.tactic", stateId=state, tactic="skip", options={"maxHeartbeats": 0})
    assert refused["error"] == "operation"
    assert "goals" in lean("goal.tactic", stateId=state, tactic="intros")


def test_universes_and_copies(lean: Any) -> None:
    assert lean("goal.start", expr="∀ α : Type u, α = α")["error"] == "elab"
    made = lean("goal.start", expr="∀ α : Type u, α = α", levels=["u"])
    assert made["pp"] == "⊢ ∀ (α : Type u), α = α"
    copied = lean("goal.start", copyFrom="Nat.add_comm")
    assert copied["pp"] == "⊢ ∀ (n m : Nat), n + m = m + n"
    assert lean("goal.start", copyFrom="No.such")["error"] == "index"


def test_deleted_states_are_gone(lean: Any) -> None:
    state = lean.start("True")
    before = lean("stat")["nGoals"]
    assert lean("goal.delete", stateIds=[state, 10**6]) == {}
    assert lean("stat")["nGoals"] == before - 1
    assert lean("goal.tactic", stateId=state, tactic="trivial")["error"] == "index"


def test_syntax_trees_on_demand(lean: Any) -> None:
    lean("options.set", printExprAST=True)
    try:
        target = lean("goal.start", expr="∀ p : Prop, p → p")["goals"][0]["target"]
    finally:
        lean("options.set", printExprAST=False)
    assert target["sexp"] == "(:forall p (:sort 0) (:forall a 0 1))"
