"""What Pantograph's protocol promises, field by field, of the embedded engine."""

from __future__ import annotations

from typing import Any

import pytest

COUPLED = "def f : Nat → Nat := sorry\ntheorem property (n : Nat) : f n = n := sorry\n"


def step(lean: Any, state: int, **fields: Any) -> Any:
    """Take a step that works."""
    answer = lean("goal.tactic", stateId=state, **fields)
    assert "goals" in answer, answer
    return answer


def targets(answer: Any) -> list[str]:
    return [goal["target"]["pp"] for goal in answer["goals"]]


# -- lines ----------------------------------------------------------------------------------------


def test_a_command_may_come_as_one_object(lean: Any) -> None:
    line = '{"cmd": "expr.echo", "payload": {"expr": "1 = 1"}}'
    assert lean.send(line)["type"] == {"pp": "Prop"}
    assert lean.send('{"cmd": "stat"}')["nGoals"] >= 0


def test_options_have_types_and_nothing_else_is_an_option(lean: Any) -> None:
    assert lean("options.set", printExprAST=True) == {}
    assert lean("options.print")["printExprAST"] is True
    assert lean("options.set", printExprAST=False) == {}
    for fields in (
        {"printExprAST": 1},
        {"timeout": -1},
        {"timeout": "1"},
        {"printEverything": True},
    ):
        assert lean("options.set", **fields)["error"] == "command"


def test_time_is_limited_and_the_engine_goes_on(lean: Any) -> None:
    state = step(lean, lean.start("∀ a b c : Nat, a * b = c"), tactic="intro a b c")["nextStateId"]
    # More than a second on any machine, in a thousand small pieces: it needs little memory.
    long = "set_option maxRecDepth 100000 in iterate 1000 (rw [Nat.mul_comm a b, Nat.mul_comm b a])"
    text = f"theorem t (a b c : Nat) : a * b = c := by\n  {long}\n"
    lean("options.set", timeout=20)
    try:
        answer = lean("goal.tactic", stateId=state, tactic=long)
        assert (answer["error"], "20 ms" in answer["desc"]) == ("internal", True)
        assert lean("frontend.process", file=text)["error"] == "internal"
    finally:
        lean("options.set", timeout=0)
    assert len(step(lean, state, tactic="skip")["goals"]) == 1


def test_errors_say_what_kind_they_are(lean: Any) -> None:
    assert lean("expr.echo", expr="fun x =>")["error"] == "parse"
    assert lean("expr.echo", expr="nothing_of_this_name")["error"] == "elab"
    assert lean("goal.start", expr="∀ x, x +")["error"] == "parse"
    assert lean("goal.start", expr="Nat.succ")["error"] == "elab"


# -- steps ----------------------------------------------------------------------------------------


def test_a_step_may_be_several_tactics(lean: Any) -> None:
    assert step(lean, lean.start("1 = 1"), tactic="have h : 1 = 1 := rfl\nexact h")["goals"] == []
    state = lean.start("∀ p q : Prop, p → q → p")
    (goal,) = step(lean, state, tactic="  intro p q\n  intro hp")["goals"]
    assert [variable["userName"] for variable in goal["vars"]] == ["p", "q", "hp"]
    assert step(lean, state, tactic="intro p q hp _; exact hp -- done")["goals"] == []
    assert "parseError" in lean("goal.tactic", stateId=state, tactic="intro p\n    intro q)")
    assert "parseError" in lean("goal.tactic", stateId=state, tactic="")


def test_a_failure_has_all_its_fields(lean: Any) -> None:
    answer = lean("goal.tactic", stateId=lean.start("1 = 2"), tactic="rfl")
    assert set(answer) == {"messages", "hasSorry", "hasUnsafe"}
    assert answer["hasSorry"] is answer["hasUnsafe"] is False


def test_holes_of_a_term_are_goals(lean: Any) -> None:
    state = lean.start("∃ n : Nat, n + 1 = 3")
    answer = step(lean, state, expr="⟨_, ?_⟩")
    assert sorted(targets(answer)) == sorted(["Nat", f"{targets(answer)[1][:-8]} + 1 = 3"])
    assert step(lean, state, expr="Exists.intro 2 rfl")["goals"] == []
    assert "messages" in lean("goal.tactic", stateId=state, expr="(3 : Nat)")


def test_have_and_let_name_no_case_but_the_binder(lean: Any) -> None:
    state = lean.start("1 + 1 = 2")
    shown, rest = step(lean, state, have="2 = 1 + 1", binderName="h")["goals"]
    assert (shown["target"]["pp"], "userName" in shown) == ("2 = 1 + 1", False)
    assert [v["userName"] for v in rest["vars"]] == ["h"]
    assert "userName" not in rest
    shown, rest = step(lean, state, let="Nat", binderName="k")["goals"]
    assert (shown["userName"], rest["vars"][0]["value"]["pp"]) == ("k", "?k")


COUNTED = """\
import Lean
open Lean Elab Meta Term

def parsed (text : String) : CoreM Syntax := do
  IO.ofExcept (Parser.runParserCategory (← getEnv) `term text)

def claimed : TermElabM Name := do
  let type ← elabType (← parsed "1 + 1 = 2")
  synthesizeSyntheticMVarsNoPostponing
  let goal := (← mkFreshExprMVar (← instantiateMVars type)).mvarId!
  goal.withContext do
    let claim ← elabType (← parsed "2 = 1 + 1")
    return (← mkFreshExprSyntheticOpaqueMVar claim).mvarId!.name

run_meta setNGen {}; logInfo (toString (← claimed.run'))
"""


@pytest.mark.slow
def test_metavariables_have_the_names_that_lean_counts(own_lean: Any) -> None:
    """Clients' tests compare these names, but each version of Lean counts differently."""
    shown, _ = step(own_lean, own_lean.start("1 + 1 = 2"), have="2 = 1 + 1")["goals"]
    answer = own_lean("frontend.process", file=COUNTED, readHeader=True)
    (message,) = (message for unit in answer["units"] for message in unit["messages"])
    assert message["data"] == shown["name"]


def test_a_have_is_part_of_the_finished_proof(lean: Any) -> None:
    first = step(lean, lean.start("1 + 1 = 2"), have="2 = 1 + 1", binderName="h")
    second = step(lean, first["nextStateId"], tactic="rfl")
    last = step(lean, second["nextStateId"], tactic="exact h.symm")
    printed = lean("goal.print", stateId=last["nextStateId"], rootExpr=True)
    assert (printed["rootHasMVar"], "(fun h => " in printed["root"]["pp"]) == (False, True)


def test_a_draft_leaves_a_goal_for_each_sorry(lean: Any) -> None:
    state = step(lean, lean.start("∀ p : Prop, p → p ∨ p"), tactic="intro p h")["nextStateId"]
    text = "by\n  have k : p := sorry\n  exact Or.inl (sorry)"
    answer = step(lean, state, draft=text)
    assert targets(answer) == ["p", "p"]
    assert answer["hasSorry"] is False
    for _ in range(2):
        answer = step(lean, answer["nextStateId"], tactic="exact h")
    assert answer["goals"] == []


def test_conv_mode_ends_where_the_goal_is_rewritten(lean: Any) -> None:
    state = lean.start("∀ a b : Nat, a + b = b + a")
    state = step(lean, state, tactic="intro a b")["nextStateId"]
    inside = step(lean, state, mode="conv")
    assert [goal["fragment"] for goal in inside["goals"]] == ["conv"]
    assert lean("goal.tactic", stateId=inside["nextStateId"], mode="conv")["error"] == "invalid"
    left = step(lean, inside["nextStateId"], tactic="lhs")
    assert "parseError" in lean("goal.tactic", stateId=left["nextStateId"], tactic="omega")
    turned = step(lean, left["nextStateId"], tactic="rw [Nat.add_comm]")
    back = step(lean, turned["nextStateId"], mode="tactic")
    if back["goals"]:
        assert targets(back) == ["b + a = b + a"]
        back = step(lean, back["nextStateId"], tactic="rfl")
    assert back["goals"] == []
    printed = lean("goal.print", stateId=back["nextStateId"])
    assert printed["rootHasMVar"] is False


def test_calc_mode_goes_on_from_the_right_hand_side(lean: Any) -> None:
    state = lean.start("∀ a b c : Nat, a = b → b = c → a = c")
    state = step(lean, state, tactic="intro a b c h k")["nextStateId"]
    state = step(lean, state, mode="calc")["nextStateId"]
    first = step(lean, state, tactic="a = b")
    assert targets(first) == ["a = b", "b = c"]
    assert [goal["fragment"] for goal in first["goals"]] == ["tactic", "calc"]
    second = step(lean, first["nextStateId"], tactic="_ = c", goalId=1)
    assert targets(second) == ["b = c", "a = b"]
    wrong = lean("goal.tactic", stateId=first["nextStateId"], tactic="c = a", goalId=1)
    assert "left-hand side" in wrong["messages"][0]["data"]
    third = step(lean, second["nextStateId"], tactic="exact k")
    assert step(lean, third["nextStateId"], tactic="exact h")["goals"] == []
    assert lean("goal.tactic", stateId=state, mode="prose")["error"] == "command"


def test_dependent_metavariables_are_named_where_asked(lean: Any) -> None:
    lean("options.set", printDependentMVars=True)
    try:
        state = lean.start("∃ n : Nat, n = 0")
        proof, witness = step(lean, state, tactic="apply Exists.intro")["goals"]
    finally:
        lean("options.set", printDependentMVars=False)
    assert proof["target"]["dependentMVars"] == [witness["name"]]
    assert witness["target"]["dependentMVars"] == []


def test_binders_carry_their_marks(lean: Any) -> None:
    lean("options.set", printExprAST=True)
    try:
        text = "@(fun {α : Type} ⦃β : Type⦄ [Inhabited α] (n : Nat) => n)"
        sexp = lean("expr.echo", expr=text)["expr"]["sexp"]
    finally:
        lean("options.set", printExprAST=False)
    assert [mark for mark in (" :i)", " :si)", " :ii)", ":implicit") if mark in sexp] == [
        " :i)", " :si)", " :ii)",
    ]  # fmt: skip


# -- states ---------------------------------------------------------------------------------------


def test_printing_gives_parents_and_asked_metavariables(lean: Any) -> None:
    start = lean("goal.start", expr="∀ p : Prop, p → p")
    after = step(lean, start["stateId"], tactic="exact fun _ h => h")["nextStateId"]
    printed = lean(
        "goal.print", stateId=after, parentExprs=True, extraMVars=[start["root"], "_uniq.9999"]
    )
    assert printed["parentExprs"] == [{"pp": "fun x h => h"}]
    assert printed["extraMVars"] == [{"pp": "fun x h => h"}, {}]


def test_a_goal_that_came_back_is_a_cycle(lean: Any) -> None:
    states = [lean.start("∀ p : Prop, p → p")]
    for tactic in ("intro p", "intro h", "revert h"):
        states.append(step(lean, states[-1], tactic=tactic)["nextStateId"])
    names = [
        lean("goal.print", stateId=state, goals=True)["goals"][0]["name"] for state in states[1:]
    ]
    fields = {"stateId": states[-1], "goal": names[2]}
    answer = lean("goal.subsume", **fields, candidates=names[:2])
    assert answer == {"result": "cycle", "subsumptor": names[0]}
    assert lean("goal.subsume", **fields, candidates=names[1:2]) == {"result": "none"}
    assert lean("goal.subsume", **fields, candidates=["_uniq.99999"])["error"] == "index"


def test_a_solved_goal_solves_its_like(lean: Any) -> None:
    state = step(lean, lean.start("∀ p : Prop, p → p ∧ p"), tactic="intro p h; constructor")
    left, right = (goal["name"] for goal in state["goals"])
    solved = step(lean, state["nextStateId"], tactic="exact h")["nextStateId"]
    answer = lean("goal.subsume", stateId=solved, goal=right, candidates=[left])
    assert answer["result"] == "subsumed"
    printed = lean("goal.print", stateId=answer["stateId"], goals=True)
    assert (printed["goals"], printed["rootHasMVar"]) == ([], False)
    other = lean("goal.subsume", stateId=state["nextStateId"], goal=right, candidates=[left],
                 srcStateId=solved)  # fmt: skip
    assert other["result"] == "subsumed"


def test_states_and_environments_survive_in_bytes(lean: Any) -> None:
    state = step(lean, lean.start("∀ p q : Prop, p ∧ q → q"), tactic="intro p q h")["nextStateId"]
    packed = lean("goal.save", id=state)["packed"]
    loaded = lean("goal.load", packed=packed)["id"]
    before, after = (lean("goal.print", stateId=s, goals=True) for s in (state, loaded))
    assert before["goals"] == after["goals"]
    assert step(lean, loaded, tactic="exact h.2")["goals"] == []
    assert lean("goal.load", packed=packed[:-8] + "AAAAAAA=")["error"] == "io"
    assert lean("goal.load", packed=lean("env.save")["packed"])["error"] == "io"


# -- environments ---------------------------------------------------------------------------------


def test_the_catalog_has_kinds_and_filters(clean_lean: Any) -> None:
    lean = clean_lean
    lean("frontend.process", file="def own : Nat → Nat | 0 => 1 | n + 1 => own n", inheritEnv=True)
    session = set(lean("env.catalog", modulePrefix="Init", invertFilter=True)["symbols"])
    assert {"down", "down.match_1"} <= session
    prelude = set(lean("env.catalog", modulePrefix="Init.Prelude")["symbols"])
    assert {"iNat", "cNat.zero", "rNat.rec", "dNat.add"} <= prelude
    everything = lean("env.catalog")["symbols"]
    assert {"tNat.add_comm", "apropext", "qQuot.mk", "down"} <= set(everything)
    packed = lean("env.save")["packed"]
    lean("reset")
    assert lean("env.load", packed=packed) == {}
    assert lean("env.inspect", name="own")["type"] == {"pp": "Nat → Nat"}


def test_modules_and_recursors_are_described(lean: Any) -> None:
    described = lean("env.describe")
    assert described["imports"] == ["Init"]
    assert "Init.Prelude" in described["modules"]
    module = lean("env.module_read", module="Init.Core")
    assert "Init.SizeOf" in module["imports"]
    assert "toBoolUsing" in module["constNames"]
    assert lean("env.module_read", module="No.Such")["error"] == "exception"
    recursor = lean("env.inspect", name="Nat.rec")["recursorInfo"]
    assert (recursor["numMinors"], recursor["rules"][1]["nFields"]) == (2, 1)
    inductive = lean("env.inspect", name="Nat")["inductInfo"]
    assert (inductive["isRec"], inductive["isNested"]) == (True, False)
    assert lean("env.add", name="x", value="1", typeErrorsAsGoals=True)["error"] == "command"


@pytest.mark.parametrize(
    ("text", "category", "pos"),
    [("intro x; apply a", "tactic", 7), ("ℕ' + 1)", "term", 8), ("simp -- x\n)", "tactic", 10)],
)
def test_a_piece_of_syntax_ends_where_lean_stops(
    lean: Any, text: str, category: str, pos: int
) -> None:
    assert lean("env.parse", input=text, category=category) == {"pos": pos}


# -- texts ----------------------------------------------------------------------------------------


def test_type_errors_become_goals_where_asked(lean: Any) -> None:
    text = "example (p : Prop) : p → p := (1 : Nat)\nexample : 1 = 1 := sorry\n"
    wrong, given_up = lean("frontend.process", file=text, typeErrorsAsGoals=True)["units"]
    assert targets(wrong) == ["p → p"]
    assert "goals" not in given_up
    plain, given_up = lean("frontend.process", file=text, sorrys=True)["units"]
    assert "goals" not in plain
    assert targets(given_up) == ["1 = 1"]


def test_invocations_are_of_tactics_that_do_something(lean: Any) -> None:
    text = "example (p q : Prop) (h : p) (k : q) : p ∧ q := by\n  constructor\n  · (exact h)\n  all_goals exact k\n"
    (unit,) = lean("frontend.process", file=text, invocations="here")["units"]
    found = [invocation["tactic"] for invocation in unit["invocations"]]
    assert "constructor" in found
    assert not [tactic for tactic in found if tactic.startswith(("·", "(", "by"))]
    assert unit["invocations"][-1]["goalAfter"] == ""
    assert unit["nInvocations"] == len(found)


def test_distilled_targets_are_statements_or_what_is_left(lean: Any) -> None:
    text = "theorem t (p : Prop) (h : p) : p ∧ p := ⟨h, sorry⟩"
    (bare,) = lean("frontend.distil", file=text)["targets"]
    assert targets(bare) == ["∀ (p : Prop), p → p ∧ p"]
    (left,) = lean("frontend.distil", file=text, ignoreValues=False)["targets"]
    assert targets(left) == ["p"]
    last = step(lean, left["stateId"], tactic="exact h")
    assert last["goals"] == []
    assert lean("goal.print", stateId=last["nextStateId"])["rootHasMVar"] is False
    assert lean("frontend.distil", file="theorem t : 1 = 2 := rfl")["error"] == "io"


def test_a_distilled_target_is_no_proof_of_itself(lean: Any) -> None:
    text = "theorem t : 1 = 2 := sorry"
    for ignore in (True, False):
        (target,) = lean("frontend.distil", file=text, ignoreValues=ignore)["targets"]
        assert "goals" not in lean("goal.tactic", stateId=target["stateId"], tactic="exact t")


def test_coupled_targets_are_one(lean: Any) -> None:
    (target,) = lean("frontend.distil", file=COUPLED, ignoreValues=False)["targets"]
    assert targets(target) == ["Nat → Nat", "?f n = n"]
    assert target["goals"][0]["userName"] == "f"
    filled = step(lean, target["stateId"], tactic="exact fun n => n")
    last = step(lean, filled["nextStateId"], tactic="rfl")
    assert lean("goal.print", stateId=last["nextStateId"])["rootHasMVar"] is False
    (whole,) = lean("frontend.distil", file=COUPLED, binderName="g")["targets"]
    assert targets(whole) == ["{ g // ∀ (n : Nat), g n = n }"]


def test_coupled_targets_are_folded_into_one_definition(lean: Any) -> None:
    text = lean("frontend.refactor", file=f"def one := 1\n{COUPLED}", coreOptions=[])["file"]
    assert text == (
        "\ndef one := 1\ndef f_composite : { f : Nat → Nat // ∀ (n : Nat), f n = n } :=\n  sorry"
    )
    assert lean("frontend.refactor", file="theorem t : 1 = 2 := rfl")["error"] == "frontend"


@pytest.mark.parametrize(
    ("solution", "failure"),
    [
        ("def f (n : Nat) : Nat := n\ntheorem t : f 1 = 1 := rfl", None),
        ("def g := 3\ndef f (n : Nat) : Nat := n * g - n - n\ntheorem t : f 1 = 1 := rfl", None),
        ("def f (n : Int) : Int := n\ntheorem t : f 1 = 1 := rfl", "f has another type"),
        ("def f (n : Nat) : Nat := n\ntheorem t : f 1 = 1 := sorry", "the value of t has a sorry"),
        ("def f (n : Nat) : Nat := n", "t is missing"),
        ("axiom a : False\ndef f (n : Nat) : Nat := n\ntheorem t : f 1 = 1 := a.elim",
         "a is a new axiom"),
    ],
)  # fmt: skip
def test_a_solution_is_tracked_against_what_was_stated(
    lean: Any, solution: str, failure: str | None
) -> None:
    stated = "def f (n : Nat) : Nat := sorry\ntheorem t : f 1 = 1 := sorry"
    assert lean("frontend.track", src=stated, dst=solution).get("failure") == failure


def test_a_solution_with_errors_is_none(lean: Any) -> None:
    answer = lean("frontend.track", src="theorem t : 1 = 1 := sorry", dst="theorem t : 1 = 1 := 2")
    assert "failure" not in answer
    assert answer["dstMessages"][0]["severity"] == "error"
