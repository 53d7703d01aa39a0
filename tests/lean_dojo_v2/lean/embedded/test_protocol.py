"""Lines in, lines out: errors, bounds, environments, options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lean_dojo_v2.lean.engines.program import SOURCES

BOTH_HOSTS = True


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
    """Our commands say which environments they found or loaded; Pantograph's have its fields only."""

    def said(line: str) -> set[str]:
        own_lean.process.stdin.write(line.encode() + b"\n")
        own_lean.process.stdin.flush()
        return {"imported"} & set(json.loads(own_lean.read_line()))

    assert said("stat {}") == set()
    assert said('dojo.check {"file": "import Init", "names": []}') == {"imported"}
    assert said('frontend.process {"file": "import Init", "readHeader": true}') == set()


# --- the examples of Protocol.lean ---------------------------------------------------------------

PROTOCOL = (SOURCES / "Dojo" / "Protocol.lean").read_text(encoding="utf-8")
ANYTHING = "…"


def examples() -> Iterator[tuple[str, Any]]:
    """Read the requests in the comment at the top, each with the answer that it shows."""
    comment = PROTOCOL[PROTOCOL.index("/-!") : PROTOCOL.index("\n-/")]
    for block in re.findall(r"(?:\n    .+)+", comment):
        request, *more = block.replace("\n      ", " ").strip().split("\n    ")
        for line in more:
            if line.startswith("{"):
                yield request, json.loads(line)
            else:
                request = line


def agrees(found: Any, shown: Any) -> bool:
    """Whether an answer is what an example shows."""
    if isinstance(shown, str) and ANYTHING in shown:
        pattern = ".*".join(map(re.escape, shown.split(ANYTHING)))
        return shown == ANYTHING or re.fullmatch(pattern, found, re.DOTALL) is not None
    if isinstance(shown, dict):
        same = isinstance(found, dict) and set(found) == set(shown)
        return same and all(agrees(found[name], shown[name]) for name in shown)
    if isinstance(shown, list):
        same = isinstance(found, list) and len(found) == len(shown)
        return same and all(map(agrees, found, shown))
    return bool(found == shown)


def test_the_protocol_is_as_documented(new_lean: Any) -> None:
    answer: dict[str, Any] = {}
    for request, shown in examples():
        command, _, text = request.partition(" ")
        fields = json.loads(text or "{}")
        given = {name: answer[name] if it == ANYTHING else it for name, it in fields.items()}
        answer = new_lean(command, **given)
        assert agrees(answer, shown), f"{request}: {json.dumps(answer, ensure_ascii=False)}"


def test_every_command_has_an_example() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (SOURCES / "Dojo").glob("*.lean"))
    commands = {name for text in sources for name in re.findall(r'{ name := "([\w.]+)"', text)}
    assert len(commands) > 20
    assert commands == {request.split()[0] for request, _ in examples()} - {"nonsense"}


def test_the_documentation_shows_the_same_examples() -> None:
    page = (SOURCES.parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(dojo\..+?)^```", page, re.MULTILINE | re.DOTALL)
    assert shown
    plain = PROTOCOL.replace("\n    ", "\n")
    for block in shown:
        for one in re.split(r"^(?=dojo\.)", block, flags=re.MULTILINE):
            assert one in plain
