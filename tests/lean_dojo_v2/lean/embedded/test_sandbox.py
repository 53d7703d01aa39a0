"""Lean code runs as a guest: it reaches no file, process or variable of the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

BOTH_HOSTS = True


def said(lean: Any, text: str) -> list[tuple[str, str]]:
    units = lean("frontend.process", file=text, readHeader=True)["units"]
    return [(m["severity"], m["data"]) for unit in units for m in unit["messages"]]


def test_no_file_of_the_host_is_read(lean: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    for path in (secret, Path("/etc/passwd"), Path("/proc/self/environ")):
        ((severity, text),) = said(lean, f'#eval IO.FS.readFile "{path}"')
        assert severity == "error"
        assert "no such file" in text


def test_nothing_is_written_to_the_host(lean: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    said(lean, f'#eval IO.FS.createDirAll "{tmp_path}"\n#eval IO.FS.writeFile "{target}" "x"')
    assert not target.exists()


@pytest.mark.parametrize(
    "action",
    [
        'IO.FS.writeFile "/lean/lib/lean/New.olean" "x"',
        'IO.FS.writeFile "/lean/lib/lean/Init.olean" "x"',
        'IO.FS.removeFile "/lean/lib/lean/Init.olean"',
        'IO.FS.rename "/lean/lib/lean/Init.olean" "/lean/lib/lean/Gone.olean"',
        'IO.FS.createDirAll "/lean/lib/lean/New"',
    ],
)
def test_the_library_cannot_be_changed(lean: Any, action: str) -> None:
    assert [severity for severity, _ in said(lean, f"#eval {action}")] == ["error"]


def test_no_process_and_no_variable(lean: Any) -> None:
    for action in ('IO.Process.output {cmd := "ls"}', 'IO.Process.run {cmd := "sh"}'):
        assert said(lean, f"#eval {action}")[0][0] == "error"
    for variable in ("HOME", "PATH", "LEAN_PATH"):
        text = said(lean, f'#eval IO.getEnv "{variable}"')[0][1]
        assert str(Path.home()) not in text
    assert said(lean, "#eval IO.appPath")[0][1] == 'FilePath.mk "/lean/bin/lean"'


def test_what_lean_code_prints_stays_out_of_the_protocol(lean: Any) -> None:
    text = 'initialize IO.println "x"\n#eval IO.println "ready."\n#eval (panic! "boo" : Nat)\n'
    assert ("information", "ready.\n") in said(lean, text)
    assert lean("goal.start", expr="True")["pp"] == "⊢ True"


@pytest.mark.parametrize(
    "proof",
    [
        "repeat (have := 1)",
        "repeat (first | rfl | skip)",
        "exact " + "(" * 300 + "rfl" + ")" * 300,
        "decide",
    ],
)
def test_run_away_tactics_end_and_the_engine_goes_on(lean: Any, proof: str) -> None:
    limits = {"maxHeartbeats": 2000}
    state = lean.start("∀ p : Prop, p → 2 ^ 1000000 % 7 = 2")
    answer = lean("goal.tactic", stateId=state, tactic=f"({proof})", options=limits)
    assert answer.get("goals") != []
    assert lean("goal.start", expr="True")["pp"] == "⊢ True"


def test_brackets_that_would_exhaust_the_stack_are_refused(lean: Any) -> None:
    deep = "(" * 20_000 + "rfl" + ")" * 20_000
    state = lean.start("1 = 1")
    assert "nested" in lean("goal.tactic", stateId=state, tactic=f"exact {deep}")["parseError"]
    assert "nested" in lean("dojo.parse_tactic", tactic=deep)["parseError"]
    answer = lean("dojo.check", file=f"theorem t : 1 = 1 := {deep}\n")
    assert answer["error"] == "command"
    assert lean("goal.tactic", stateId=state, tactic="rfl")["goals"] == []


@pytest.mark.slow
def test_what_may_have_harmed_lean_ends_the_engine_with_code_3(new_lean: Any) -> None:
    state = new_lean.start("1 = 1")
    endless = "fun x => " * 100_000  # no brackets, yet too deep for the parser's stack
    answer = new_lean("goal.tactic", stateId=state, tactic=f"exact {endless} x")
    assert answer["error"] == "fatal"
    assert new_lean.process.wait(timeout=30) == 3
