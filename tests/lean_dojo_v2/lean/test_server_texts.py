"""The client against real Lean: whole texts, headers and definitions."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    RequestError,
)
from lean_dojo_v2.lean.messages import Position, Severity


def test_a_text_is_checked_command_by_command(engine):
    text = (
        "theorem a : 1 = 1 := rfl\n\ntheorem b : 1 = 2 := by\n  rfl\ntheorem c : 1 = 3 := sorry\n"
    )
    first, second, third = engine.check_compile(text)
    assert first.messages == []
    assert (first.i_begin, first.i_end) == (0, text.index("theorem b"))
    assert [message.severity for message in second.messages] == [Severity.ERROR]
    assert second.errors[0].pos == Position(4, 2)
    assert third.messages[0].kind == "hasSorry"
    assert third.messages[0].severity is Severity.WARNING
    with pytest.raises(RequestError):
        engine.env_inspect("a")  # the environment is as before


def test_what_a_task_says_of_a_command_is_among_its_messages(fresh_engine):
    # as native Lean does for proofs behind `set_option Elab.async true`
    text = (
        "import Lean\nopen Lean Elab Command in\n"
        "run_cmd do\n"
        '  let message := { fileName := "", pos := ⟨1, 0⟩, data := "said late" : Message }\n'
        "  let said ← Language.Snapshot.Diagnostics.ofMessageLog (({} : MessageLog).add message)\n"
        "  let task := .finished none (.mk { diagnostics := said } #[])\n"
        "  modify fun s => { s with snapshotTasks := s.snapshotTasks.push task }\n"
    )
    units = fresh_engine.check_compile(text, read_header=True)
    assert [message.data for unit in units for message in unit.messages] == ["said late"]


def test_a_header_is_read_on_demand(engine):
    text = "import Std.Data.HashMap\n#check Std.HashMap\n"
    (unit,) = [u for u in engine.check_compile(text, read_header=True) if u.messages]
    assert "Std.HashMap" in unit.messages[0].data
    with pytest.raises(RequestError, match="Mathlib"):
        engine.check_compile("import Mathlib\n", read_header=True)


@pytest.fixture
def project(tmp_path):
    """A project of two modules, reached through a symbolic link."""
    (tmp_path / "real/Own").mkdir(parents=True)
    (tmp_path / "real/Own/Basic.lean").write_text("theorem own_fact : 1 + 1 = 2 := rfl\n")
    (tmp_path / "real/Own.lean").write_text("import Own.Basic\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    return tmp_path / "link"


@pytest.mark.slow
def test_own_modules_definitions_and_headers_make_the_environment(project):
    with Server(["Init", "Own"], project_path=project, engine="embedded") as server:
        change_environment(server)


def change_environment(server):
    assert server.goal_tactic(server.goal_start("1 + 1 = 2"), "exact own_fact").is_solved
    server.load_definitions("def mystery (x : Nat) := x + 123")
    assert server.env_inspect("mystery")["type"]["pp"] == "Nat → Nat"
    with pytest.raises(RequestError, match="1:16: error"):
        server.load_definitions("def x : Nat := -")
    server.load_header("import Own\nopen Nat")
    state = server.goal_tactic(server.goal_start("∀ n : Nat, n + 1 = n.succ"), "intro n")
    assert server.goal_tactic(state, "exact add_one n").is_solved
    assert server.expr_type("own_fact") == "1 + 1 = 2"
    server.load_header("import Own\nuniverse u")
    assert "Type u" in str(server.goal_start("∀ (α : Type u) (x : α), x = x"))


def test_every_tactic_of_a_file_is_listed(engine, tmp_path):
    file = tmp_path / "A.lean"
    file.write_text(
        "import Init\n\ntheorem a (p : Prop) (h : p) : p ∧ True := by\n  constructor\n  · exact h\n  · trivial\n"
    )
    tactics = [t for u in engine.tactic_invocations(file) for t in u.invocations or []]
    found = {t.tactic: (t.before, t.after) for t in tactics}
    assert found["exact h"] == ("case left\np : Prop\nh : p\n⊢ p", "")
    assert found["constructor"][1].count("⊢") == 2
    with pytest.raises(RequestError, match=r"B\.lean"):
        engine.tactic_invocations(tmp_path / "B.lean")


def test_the_goals_of_sorries_are_opened(engine):
    (target,) = engine.load_sorry("theorem mystery (p : Prop) : p → p := sorry")
    state = target.goal_state
    assert [str(goal) for goal in state.goals] == ["p : Prop\n⊢ p → p"]
    assert engine.goal_tactic(state, "exact id").is_solved


def test_new_constants_are_named(engine):
    units = engine.check_compile("def one := 1\ntheorem two : one = 1 := rfl", new_constants=True)
    assert "one" in (units[0].new_constants or [])
    assert "two" in (units[1].new_constants or [])
