"""``lean-dojo lean repl``: the face of Pantograph's own program, files and all."""

from __future__ import annotations

import io
import json

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.cli import main
from lean_dojo_v2.lean.engines.protocol import PROTOCOL_VERSION, serve_protocol, with_files


def test_the_version_is_that_of_the_protocol(capsys):
    assert main(["lean", "repl", "--version"]) == 0
    assert capsys.readouterr().out == f"{PROTOCOL_VERSION}\n"


@pytest.fixture
def ask(monkeypatch, capsysbinary):
    """Serves some lines, and returns the answers behind ``ready.``."""
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def served(words, *lines, **settings):
        text = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(text))
        serve_protocol(words, **settings)
        ready, *answers = capsysbinary.readouterr().out.decode().splitlines()
        assert ready == "ready."
        return [json.loads(answer) for answer in answers]

    return served


@pytest.mark.slow
def test_requests_in_answers_out_with_the_files_that_they_name(ask, tmp_path):
    (tmp_path / "A.lean").write_text("theorem t : 1 = 1 := by\n  rfl\n")
    requests = [
        f'frontend.process {{"fileName": "{tmp_path}/A.lean", "invocations": "{tmp_path}/i.json"}}',
        json.dumps({"cmd": "env.catalog", "payload": {"filename": f"{tmp_path}/c.txt"}}),
        'goal.start {"expr": "∀ p : Prop, p → p"}',
        f'goal.save {{"id": 0, "path": "{tmp_path}/state"}}',
        f'goal.load {{"path": "{tmp_path}/state"}}',
        f'goal.load {{"path": "{tmp_path}/A.lean"}}',
        f'goal.load {{"path": "{tmp_path}/nothing"}}',
        'goal.save {"id": 0}',
        "goal.start {",
        'expr.echo {"expr": "[Nat.succ 1]"}',
        "",
        'expr.echo {"expr": "never asked"}',
    ]
    answered = ask(["Init", "--pp.all=true"], *requests)
    assert len(answered) == requests.index("")
    assert answered[0]["units"][0]["nInvocations"] == 1
    assert "invocations" not in answered[0]["units"][0]
    (unit,) = json.loads((tmp_path / "i.json").read_text())["units"]
    assert unit["invocations"][0]["tactic"] == "rfl"
    names = (tmp_path / "c.txt").read_text().splitlines()
    assert len(names) == answered[1]["nSymbols"] > 10_000
    assert answered[3:5] == [{}, {"id": 1}]
    assert [answer["error"] for answer in answered[5:9]] == ["io", "io", "command", "command"]
    assert "List.cons.{0}" in answered[9]["expr"]["pp"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["embedded", "native"])
def test_either_engine_answers_and_has_the_projects_modules(ask, engine, tmp_path, monkeypatch):
    use_toolchain(tmp_path / "toolchain", monkeypatch)
    project = tmp_path / "project"
    project.mkdir()
    (project / "lakefile.toml").write_text('name = "p"\n[[lean_lib]]\nname = "Own"\n')
    (project / "Own.lean").write_text("theorem own : 1 = 1 := rfl\n")
    module = "Own" if engine == "embedded" else "Init"  # nothing builds the native one here
    name = {"Own": "own", "Init": "Nat.add_comm"}[module]
    request = f'env.inspect {{"name": "{name}"}}'
    (answer,) = ask([module], request, project=project, engine=engine)
    assert answer["isUnsafe"] is False


@pytest.mark.parametrize("cmd", ["goal.tactic", "stat"])
def test_requests_without_files_pass_as_they_are(cmd):
    payload = {"path": "/etc/passwd"}
    assert with_files(cmd, payload, lambda name, fields: {name: fields}) == {cmd: payload}
