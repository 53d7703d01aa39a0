"""The client against real Lean: goals, constants and expressions."""

from __future__ import annotations

import gc
import pickle

import pytest

from lean_dojo_v2.lean.client.engine import GC_THRESHOLD
from lean_dojo_v2.lean.client.records import Goal, Site, Variable
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    ParseError,
    RequestError,
    RequestParseError,
    ServerError,
    TacticError,
    TacticFailure,
    TacticParseError,
)

OR_SWAP = "∀ (p q : Prop), p ∨ q → q ∨ p"


# -- goals ----------------------------------------------------------------------------------------


def test_a_proof_from_start_to_end(engine):
    start = engine.goal_start(OR_SWAP)
    assert [goal.target for goal in start.goals] == [OR_SWAP]
    assert not start.is_solved
    intro = engine.goal_tactic(start, "intro p q h")
    variables = [
        Variable("Prop", name="p"),
        Variable("Prop", name="q"),
        Variable("p ∨ q", name="h"),
    ]
    assert intro.goals[0].variables == variables
    assert str(intro) == "p q : Prop\nh : p ∨ q\n⊢ q ∨ p"
    done = engine.goal_tactic(intro, "exact h.symm")
    assert done.is_solved
    assert str(done) == "no goals"
    assert engine.goal_root(start) is None
    assert engine.goal_root(done) == "fun p q h => Or.symm h"


def test_all_goals_count_and_siblings_never_vanish(engine):
    split = engine.goal_tactic(
        engine.goal_tactic(engine.goal_start(OR_SWAP), "intro p q h"), "cases h"
    )
    assert [goal.name for goal in split.goals] == ["inl", "inr"]
    assert split.goals[0].variables[2] == Variable("p", name="h✝")
    assert split.goals[0].variables[2].inaccessible
    half = engine.goal_tactic(split, "exact Or.inr ‹_›")
    assert not half.is_solved
    assert [goal.name for goal in half.goals] == ["inr"]
    assert engine.goal_tactic(half, "exact Or.inl ‹_›").is_solved


def test_a_site_chooses_the_goal_and_the_others_stay(engine):
    split = engine.goal_tactic(engine.goal_start("True ∧ 1 = 1"), "constructor")
    assert [goal.name for goal in split.goals] == ["left", "right"]
    right_first = engine.goal_tactic(split, "rfl", Site(1))
    assert [goal.name for goal in right_first.goals] == ["left"]
    with pytest.raises(ServerError):
        engine.goal_tactic(split, "rfl", Site(2))


def test_dormant_goals_come_back(engine):
    split = engine.goal_tactic(engine.goal_start("True ∧ 1 = 1"), "constructor")
    left = engine.goal_tactic(split, "trivial", Site(0, auto_resume=False))
    assert left.goals == []
    both = engine.goal_continue(left, split)
    assert [goal.name for goal in both.goals] == ["right"]
    again = engine.goal_resume(left, [split.goals[1]])
    assert engine.goal_tactic(again, "rfl").is_solved


@pytest.mark.parametrize(
    ("tactic", "error", "said"),
    [
        ("exact foo", TacticError, "nknown identifier `foo`"),
        ("rfl", TacticError, "rfl"),
        ("exact (", TacticParseError, "unexpected end of input"),
        ("not a tactic", TacticParseError, "<input>"),
        ("", TacticParseError, "unexpected end of input"),
        ("sorry", TacticError, "sorry"),
        ("exact sorry", TacticError, "sorry"),
    ],
)
def test_failures_of_tactics_are_told_apart(engine, tactic, error, said):
    start = engine.goal_start("∀ n : Nat, n + 1 = 2")
    with pytest.raises(error, match=said) as caught:
        engine.goal_tactic(start, tactic)
    assert isinstance(caught.value, TacticFailure)
    assert isinstance(caught.value, ParseError) == (error is TacticParseError)
    assert not isinstance(caught.value, ServerError)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_failures_of_expressions_are_told_apart(engine):
    with pytest.raises(RequestParseError):
        engine.goal_start("∀ n : Nat,")
    with pytest.raises(RequestError) as caught:
        engine.goal_start("n + nowhere = 2")
    assert not isinstance(caught.value, ParseError)
    assert "goal.start" not in str(caught.value)
    with pytest.raises(RequestError, match=r"goal\.start: .*misspelt"):  # a client's mistake
        engine.ask("goal.start", {"expr": "True", "misspelt": 1})
    with pytest.raises(RequestParseError, match=r"encoding|surrogates|UTF-8"):
        engine.goal_start("\ud800")


def test_a_failed_tactic_leaves_the_state_as_it_was(engine):
    start = engine.goal_start("∀ n : Nat, n + 0 = n")
    for _ in range(3):
        with pytest.raises(TacticFailure):
            engine.goal_tactic(start, "omega_typo")
    assert engine.goal_tactic(start, "simp").is_solved


def test_dropped_states_are_forgotten(engine):
    gc.collect()  # states of the tests before
    engine.gc()
    before = engine.stat()["nGoals"]
    kept = engine.goal_start("True")
    for _ in range(GC_THRESHOLD + 10):
        engine.goal_start("True")
    assert engine.stat()["nGoals"] <= before + 1 + GC_THRESHOLD
    assert engine.to_remove_goal_states
    engine.gc()
    assert engine.to_remove_goal_states == []
    assert engine.stat()["nGoals"] == before + 1
    assert engine.goal_tactic(kept, "trivial").is_solved


def test_unicode_and_long_texts_go_both_ways(engine):
    name = "α₁'" * 1000
    state = engine.goal_tactic(engine.goal_start("∀ x : Nat, x = x"), f"intro {name}")
    assert state.goals[0].variables == [Variable("Nat", name=name)]
    with pytest.raises(TacticFailure):
        engine.goal_tactic(state, "exact " + "(" * 1_000)


# -- constants and expressions --------------------------------------------------------------------


def test_constants_have_types_and_modules(engine):
    described = engine.env_inspect("Nat.add_comm")
    assert described["type"]["pp"] == "∀ (n m : Nat), n + m = m + n"
    assert described["module"] == "Init.Data.Nat.Basic"
    with pytest.raises(RequestError, match="nowhere"):
        engine.env_inspect("nowhere")


def test_the_catalog_lists_constants(engine):
    inside = engine.env_catalog("Init.Prelude")
    assert {"iNat", "cNat.succ"} <= set(inside)
    outside = engine.env_catalog("Init.Prelude", invert_filter=True)
    assert "tNat.add_comm" in outside
    assert not set(inside) & set(outside)


def test_expressions_have_types(engine):
    assert engine.expr_type("∀ (n m : Nat), n + m = m + n") == "Prop"
    assert engine.expr_type("Nat.succ") == "Nat → Nat"
    with pytest.raises(RequestError):
        engine.expr_type("1 + nowhere")


# -- the native engine ----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_native_engine_is_any_program_that_speaks_the_protocol(repl, monkeypatch, tmp_path):
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", str(repl))
    options = {"automaticMode": False}
    with Server(
        imports=["Init", "Std.Data.HashMap"],
        project_path=tmp_path,
        engine="native",
        options=options,
        core_options=["pp.explicit=true"],
    ) as server:
        assert server.kind == "native"
        assert not server.is_automatic()
        assert server.expr_type("Nat.succ") == "Nat → Nat"
        split = server.goal_tactic(server.goal_start("True ∧ 1 = 1"), "constructor")
        assert server.goal_tactic(split, "trivial").goals == []
        assert "@Eq Nat" in server.goal_start("1 = 1").goals[0].target


def test_goals_equal_pypantographs_records(engine):
    state = engine.goal_tactic(engine.goal_start("∀ p : Prop, p → p"), "intro p")
    (goal,) = state.goals
    assert goal == Goal(goal.id, [Variable(name="p", t="Prop")], target="p → p", name=None)


def test_a_server_pickles_as_its_configuration(engine):
    copy = pickle.loads(pickle.dumps(engine))
    assert copy.pid is None
    assert (copy.imports, copy.engine, copy.timeout) == (["Init"], "embedded", 60)
