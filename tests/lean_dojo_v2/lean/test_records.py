"""Goals as records: reading Pantograph's JSON and printing as Lean prints."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.records import (
    Goal,
    GoalState,
    Session,
    Site,
    TacticDraft,
    TacticExpr,
    TacticHave,
    TacticLet,
    TacticMode,
    Variable,
    serial_tactic,
)
from lean_dojo_v2.lean.client.units import CheckTrackResult, CompilationUnit, SearchTarget
from lean_dojo_v2.lean.errors import TacticError, TacticFailure, TacticParseError
from lean_dojo_v2.lean.messages import LeanMessage, Position, Severity

GOAL = {
    "name": "_uniq.61",
    "userName": "inl",
    "fragment": "tactic",
    "target": {"pp": "b ∨ a"},
    "vars": [
        {"name": "_uniq.1", "userName": "a", "type": {"pp": "Prop"}},
        {"name": "_uniq.2", "userName": "b", "type": {"pp": "Prop"}},
        {"name": "_uniq.3", "userName": "h✝", "isInaccessible": True, "type": {"pp": "a"}},
        {"name": "_uniq.4", "userName": "x", "type": {"pp": "Nat"}, "value": {"pp": "5"}},
        {"name": "_uniq.5", "userName": "y", "type": {"pp": "Nat"}},
        {"name": "_uniq.6", "userName": "z", "type": {"pp": "Nat"}},
    ],
}


def test_a_goal_reads_and_prints_as_lean_prints_it():
    goal = Goal.parse(GOAL, {})
    assert str(goal) == ("case inl\na b : Prop\nh✝ : a\nx : Nat := 5\ny z : Nat\n⊢ b ∨ a")
    assert goal.id == "_uniq.61"
    assert goal.name == "inl"
    assert goal.variables[2] == Variable("a", name="h✝")
    assert [v.inaccessible for v in goal.variables] == [False, False, True, False, False, False]
    assert goal.variables[3].value == "5"
    assert goal.sibling_dep is None


def test_conversion_goals_print_with_a_bar():
    goal = Goal.parse({"name": "g", "fragment": "conv", "target": {"pp": "a + b"}}, {})
    assert goal.is_conversion
    assert str(goal) == "| a + b"


def test_sibling_dependencies_are_positions():
    session = Session()
    goals = [
        {"name": "g0", "target": {"pp": "?w + 1 = 0", "dependentMVars": ["g1"]}, "vars": []},
        {"name": "g1", "target": {"pp": "Nat", "dependentMVars": []}, "vars": []},
    ]
    state = GoalState.parse(4, {"goals": goals}, session)
    assert [goal.sibling_dep for goal in state.goals] == [{1}, set()]


def test_a_state_prints_all_goals_and_is_solved_only_without_any():
    session = Session()
    two = GoalState.parse(1, {"goals": [GOAL, {**GOAL, "userName": "inr"}]}, session)
    assert not two.is_solved
    assert str(two).count("\n\ncase inr") == 1
    none = GoalState.parse(2, {"goals": []}, session)
    assert none.is_solved
    assert str(none) == "no goals"


def test_a_state_is_queued_for_deletion_when_its_last_copy_is_gone():
    import attrs

    session = Session()
    state = GoalState.parse(7, {"goals": []}, session)
    copy = attrs.evolve(state, goals=[Goal("g", [], "True")])
    del state
    assert list(session.dropped) == []
    del copy
    assert list(session.dropped) == [7]


@pytest.mark.parametrize(
    ("tactic", "fields"),
    [
        ("simp", {"tactic": "simp"}),
        (TacticHave("1 = 1", "h"), {"have": "1 = 1", "binderName": "h"}),
        (TacticLet("Nat"), {"let": "Nat"}),
        (TacticExpr("rfl"), {"expr": "rfl"}),
        (TacticDraft("by sorry"), {"draft": "by sorry"}),
        (TacticMode.CONV, {"mode": "conv"}),
    ],
)
def test_tactics_become_pantographs_fields(tactic, fields):
    assert serial_tactic(tactic) == fields


def test_what_is_no_tactic_is_a_type_error():
    with pytest.raises(TypeError, match="not int"):
        serial_tactic(3)  # type: ignore[arg-type]


def test_a_site_names_only_what_it_was_given():
    assert Site().serial() == {}
    assert Site(1, auto_resume=False).serial() == {"goalId": 1, "autoResume": False}


MESSAGE = {
    "severity": "warning",
    "pos": {"line": 3, "column": 8},
    "endPos": None,
    "kind": "hasSorry",
    "data": "declaration uses `sorry`",
    "fileName": "<anonymous>",
}


def test_messages_keep_their_kind_and_drop_leans_anonymous_one():
    message = LeanMessage.parse(MESSAGE)
    assert message == LeanMessage(
        "declaration uses `sorry`", Position(3, 8), None, Severity.WARNING, "hasSorry"
    )
    assert str(message) == "3:8: warning: declaration uses `sorry`"
    assert LeanMessage.parse({**MESSAGE, "kind": "[anonymous]"}).kind is None
    assert LeanMessage.parse({**MESSAGE, "severity": "info"}).severity is Severity.INFORMATION


def test_an_unknown_severity_is_an_error_and_never_passes():
    with pytest.raises(ValueError, match="hint"):
        LeanMessage.parse({**MESSAGE, "severity": "hint"})


def test_a_unit_has_its_bytes_messages_and_tactics():
    unit = CompilationUnit.parse(
        {
            "boundary": [0, 40],
            "messages": [MESSAGE, {**MESSAGE, "severity": "error"}],
            "invocations": [{"goalBefore": "⊢ True", "goalAfter": "", "tactic": "trivial"}],
        },
        Session(),
    )
    assert (unit.i_begin, unit.i_end) == (0, 40)
    assert [m.severity for m in unit.errors] == [Severity.ERROR]
    assert unit.invocations is not None
    assert unit.invocations[0].tactic == "trivial"
    assert unit.goal_state is None


def test_pypantographs_own_names_are_there():
    assert [mode.serial() for mode in TacticMode] == ["tactic", "conv", "calc"]
    goals = [{"name": "_uniq.1", "target": {"pp": "True"}, "vars": []}]
    target = SearchTarget.parse({"stateId": 8, "goals": goals}, Session())
    assert [goal.target for goal in target.goal_state.goals] == ["True"]
    result = CheckTrackResult([], [LeanMessage("no", Position(1, 0))], "t is missing")
    assert (result.hasSrcError, result.hasDstError, result.succeeded) == (False, True, False)
    assert result.feedback == ["1:0: error: no", "t is missing"]
    answer = {"srcMessages": [], "dstMessages": [{**MESSAGE, "kind": ""}]}
    assert CheckTrackResult.parse(answer).succeeded
    assert not CheckTrackResult.parse(
        {**answer, "srcMessages": [{**MESSAGE, "severity": "error"}]}
    ).succeeded


@pytest.mark.parametrize("failure", [TacticError("no", [LeanMessage("no", Position(1, 0))]),
                                     TacticParseError("no")])  # fmt: skip
def test_a_failure_carries_messages(failure):
    assert isinstance(failure, TacticFailure)
    assert [message.data for message in failure.messages] == ["no"]


def test_a_have_has_a_value_that_no_proof_can_use():
    value = {"type": {"pp": "Nat"}, "value": {"pp": "2"}, "userName": "n"}
    assert Variable.parse(value).value == "2"
    have = Variable.parse({**value, "isHave": True})
    assert (have.v, have.value) == ("2", None)
