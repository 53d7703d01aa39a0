"""An engine is put back to its start: nothing that a text did to it is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hostile import ENDLESS
from poisons import MACRO, UNSEEN

from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan
from lean_dojo_v2.lean.engines.process import RESET, EngineProcess

SECONDS = 240.0
# With imports of its own, because environments that are there already know their macros.
FALSE = "import Init.Data.Option.Basic\ntheorem target : 2 + 2 = 5 := rfl\n"
# A linter that goes on writing, and a thread that never ends.
WILD = """import Lean
open Lean Elab Command
#eval show IO Unit from lintersRef.modify fun all => all.push { name := `spy, run := fun stx => do
  IO.FS.writeFile "/left.txt" (toString stx) }
#eval show IO Unit from do
  discard <| IO.asTask (prio := .dedicated) (do repeat pure ())
"""
READ = '#eval IO.FS.readFile "/left.txt"'


class Engine:
    """An engine of the client's, with requests as keywords."""

    def __init__(self) -> None:
        self.process = EngineProcess(embedded_plan(["Init"]))

    def __call__(self, command: str, **fields: Any) -> Any:
        line = f"{command} {json.dumps(fields)}".encode()
        return json.loads(self.process.request(line, SECONDS))

    def errors(self, text: str) -> list[str]:
        """The errors of a text, elaborated as a file."""
        answer = self("dojo.check", file=text, fileName="<input>", all=True)
        return [one["data"] for one in answer["messages"] if one["severity"] == "error"]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.process.close()


@pytest.mark.slow
def test_a_macro_of_the_process_is_gone(engine: Engine) -> None:
    for text in (MACRO, UNSEEN):
        assert engine.process.reset(SECONDS)
        assert engine.errors(text) == []
        assert engine.errors(FALSE) == []  # so it is dangerous
        assert engine.process.reset(SECONDS)
        (first, *_) = engine.errors(FALSE)
        assert first.startswith(("Type mismatch", "Not a definitional equality"))


def test_files_and_tasks_of_a_text_are_gone_even_if_they_never_end(engine: Engine) -> None:
    for _ in range(2):
        assert engine.errors(WILD) == []
        assert engine.process.reset(SECONDS)
        (missing,) = engine.errors(READ)
        assert "no such file" in missing
        assert engine.errors("theorem t (n : Nat) : n + 0 = n := by simp") == []


def test_goal_states_settings_and_environments_are_as_at_the_start(engine: Engine) -> None:
    assert engine.process.reset(SECONDS)
    at_start = engine("stat")
    state = engine("goal.start", expr="∀ n : Nat, n + 0 = n")["stateId"]
    engine("options.set", printExprPretty=False)
    engine("frontend.process", file="import Std\ndef two := 2", readHeader=True, inheritEnv=True)
    assert engine.process.reset(SECONDS)
    assert "error" in engine("goal.print", stateId=state)
    assert engine("options.print")["printExprPretty"] is True
    assert "error" in engine("env.inspect", name="two")
    assert {**engine("stat"), "rss_mb": 0} == {**at_start, "rss_mb": 0}
    assert engine("goal.start", expr="True")["stateId"] == state


def test_limits_of_time_hold_after_a_reset(engine: Engine) -> None:
    endless = f"example : True := by\n  {ENDLESS.replace('hp', 'trivial')}"
    for _ in range(2):
        engine("options.set", timeout=300)
        assert (
            "interrupt" in engine("dojo.check", file=endless, fileName="<input>", all=True)["desc"]
        )
        assert engine.process.reset(SECONDS)
    assert engine.errors("theorem t : True := trivial") == []


def test_a_reset_waits_for_the_request_before_it(engine: Engine) -> None:
    text = json.dumps({"file": FALSE, "fileName": "<input>", "all": True})
    answers = engine.process.request(f"dojo.check {text}".encode(), SECONDS)
    assert b"messages" in answers
    assert json.loads(engine.process.request(RESET, SECONDS)).keys() == {"resets", "rss_mb"}


@pytest.mark.slow
def test_memory_does_not_grow_with_resets(engine: Engine) -> None:
    used = []
    for _ in range(50):
        assert engine.errors("theorem t (n : Nat) : n + 0 = n := by omega") == []
        assert engine.process.reset(SECONDS)
        used.append(engine.process.memory_mb)
    assert max(used[-10:]) < min(used[:10]) + 200


def test_an_engine_that_ends_is_not_reset() -> None:
    own = Engine()
    own.process.kill()
    assert not own.process.reset(SECONDS)
