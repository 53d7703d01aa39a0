"""Lines in, lines out: errors, bounds, environments, options."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("no.such.command {}", "command"),
        ("constructor {}", "command"),
        ("goal.start {broken", "command"),
        ("goal.start [1]", "command"),
        ("goal.start {}", "command"),
        ('goal.start {"expr": "True", "expression": "True"}', "command"),
        ('env.parse {"input": "simp"}', "command"),
        ('{"cmd": "goal.start", "load": {}}', "command"),
        ('goal.tactic {"stateId": 10000000, "tactic": "rfl"}', "index"),
        ('goal.tactic {"stateId": "x", "tactic": "rfl"}', "command"),
        ('goal.delete {"stateIds": 3}', "command"),
        ('goal.start {"expr": "1 +"}', "parse"),
        ('goal.start {"expr": "nope"}', "elab"),
        ('goal.start {"expr": 3}', "command"),
        ('dojo.trace {"file": 3}', "command"),
        ('dojo.trace {"file": "\\u0000"}', "command"),
    ],
)
def test_a_bad_request_is_answered_and_the_next_one_works(lean: Any, line: str, kind: str) -> None:
    assert lean.send(line)["error"] == kind
    assert lean("goal.start", expr="True")["pp"] == "⊢ True"


def test_options_and_statistics(lean: Any) -> None:
    assert lean("options.print")["automaticMode"] is True
    stat = lean("stat")
    assert {"nGoals", "rss_mb", "wasm_mb"} <= set(stat)
    assert stat["rss_mb"] > 100


def test_constants(lean: Any) -> None:
    found = lean("env.inspect", name="Nat.add_comm")
    assert found["type"] == {"pp": "∀ (n m : Nat), n + m = m + n"}
    assert found["module"] == "Init.Data.Nat.Basic"
    assert found["isUnsafe"] is False
    definition = lean("env.inspect", name="id", value=True, dependency=True)
    assert definition["value"]["pp"] == "fun {α} a => a"
    assert lean("env.inspect", name="List")["inductInfo"]["ctors"] == ["List.nil", "List.cons"]
    assert lean("env.inspect", name="Or.inl")["constructorInfo"]["induct"] == "Or"
    assert lean("env.inspect", name="No.such")["error"] == "index"
    assert "Init.Prelude" in lean("env.describe")["modules"]


def test_terms(lean: Any) -> None:
    answer = lean("expr.echo", expr="fun n : Nat => n + 1")
    assert answer == {"expr": {"pp": "fun n => n + 1"}, "type": {"pp": "Nat → Nat"}}
    assert lean("expr.echo", expr="(3 : Int)", type="Nat")["error"] == "elab"
    assert lean("env.parse", input="intro x; apply é", category="tactic") == {"pos": 7}
    assert lean("env.parse", input="exact é", category="tactic") == {"pos": 8}
    assert lean("env.parse", input=")", category="tactic")["error"] == "parse"


def test_added_definitions_and_inherited_scopes(clean_lean: Any) -> None:
    lean = clean_lean
    lean("env.add", name="mystery", levels=[], type="Nat → Nat", value="fun n => n + 1")
    assert lean("env.inspect", name="mystery")["type"] == {"pp": "Nat → Nat"}
    false = lean("env.add", name="f", type="1 = 2", value="rfl", isTheorem=True)
    assert false["error"] == "elab"
    lean("frontend.process", file="def twice (n : Nat) := n + n\nopen Nat", inheritEnv=True)
    state = lean("goal.start", expr="twice 1 = succ 1")
    assert state["pp"] == "⊢ twice 1 = succ 1"
    assert lean("reset") == {"nGoals": 1}


def test_a_request_that_is_too_long_is_refused(lean: Any) -> None:
    answer = lean.send("x" * (65 * 1024 * 1024))
    assert "67108864 bytes" in answer["desc"]
    assert lean("goal.start", expr="True")["pp"] == "⊢ True"


def test_what_answers_say_beside_their_own_fields(own_lean: Any) -> None:
    """Pantograph's commands say once that a program has run; ours always, in either form of a line."""

    def said(line: str) -> set[str]:
        own_lean.process.stdin.write(line.encode() + b"\n")
        own_lean.process.stdin.flush()
        return {"tainted", "imported"} & set(json.loads(own_lean.read_line()))

    text = '"file": "import Init\\n#eval 1"'
    assert said("stat {}") == set()
    assert said('dojo.check {"file": "import Init", "names": []}') == {"imported"}
    assert said(f'frontend.process {{{text}, "readHeader": true}}') == {"tainted"}
    assert said("stat {}") == set()
    assert said('dojo.parse_tactic {"tactic": "rfl"}') == {"tainted"}
    assert said('{"cmd": "dojo.parse_tactic", "payload": {"tactic": "rfl"}}') == {"tainted"}
