"""The native engine: how the user's own Lean is found, asked, and started.

The quick tests have a `lean` of a few lines; the slow ones have the WebAssembly build behind the
commands (tests/native_lean.py).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.cli import main
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.native import native_plan, toolchain_of
from lean_dojo_v2.lean.engines.process import Capabilities
from lean_dojo_v2.lean.engines.program import MODULE, program
from lean_dojo_v2.lean.engines.selection import select_engine
from lean_dojo_v2.lean.errors import EngineTimeoutError, EngineUnavailableError
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.proofs import check_goal_proof
from lean_dojo_v2.lean.verify.tactics import check_tactic

SCRIPT = """\
#!/bin/sh
case "$1" in
--version) echo "Lean (version 4.34.1, x86_64-unknown-linux-gnu, commit 0123abcd, Release)" ;;
--root=*) {compile} ;;
esac
"""
COMPILES = 'printf olean > "$4"'


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs, first on the PATH; the cache is empty."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(tmp_path / "cache"))
    for variable in ("LEAN_DOJO_PANTOGRAPH", "LEAN_DOJO_ENGINE", "LEAN_DOJO_SANDBOX"):
        monkeypatch.delenv(variable, raising=False)
    return folder


def put(tools: Path, name: str, text: str) -> None:
    (tools / name).write_text(text)
    (tools / name).chmod(0o755)


def test_a_lean_on_the_path_is_all_that_it_needs(tools, tmp_path, capsys):
    put(tools, "lean", SCRIPT.format(compile=COMPILES))
    project = tmp_path / "project"
    project.mkdir()
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.34.1\n")
    plan = native_plan(["Init"], project=project, lean_path="/built", core_options=["pp.all=true"])
    assert plan.capabilities == Capabilities(ours=True, sandboxed=False)
    assert plan.cwd == str(project)
    assert plan.what == "native Lean engine (Lean 4.34.1)"
    compiled, built = plan.env["LEAN_PATH"].split(os.pathsep)
    assert built == "/built"
    assert (Path(compiled) / f"{MODULE}.olean").read_text() == "olean"
    script = Path(compiled) / "Main.lean"
    words = [
        str(tools / "lean"),
        "--run",
        str(script),
        f"--project={project}",
        "Init",
        "pp.all=true",
    ]
    assert list(plan.argv[3:]) == words
    assert capsys.readouterr().err == "lean-dojo: compiling the engine for Lean 4.34.1 (once)\n"
    native_plan(["Init"], project=project, lean_path="/built")
    assert capsys.readouterr().err == "", "the second start finds it compiled"
    assert select_engine("auto", project) == "native"


def test_a_toolchain_that_cannot_compile_it_gets_one_message(tools):
    [(start, name), *_] = program().starts
    error = json.dumps({"severity": "error", "pos": {"line": start + 3}, "data": "unknown Foo"})
    later = json.dumps({"severity": "error", "pos": {"line": start + 9}, "data": "and so on"})
    put(tools, "lean", SCRIPT.format(compile=f"echo '{error}'; echo '{later}'; exit 1"))
    with pytest.raises(EngineUnavailableError) as caught:
        native_plan(["Init"])
    message = str(caught.value)
    assert message.startswith(
        f"The engine does not compile with Lean 4.34.1:\n{name}:3: unknown Foo"
    )
    assert "and so on" not in message
    assert "another toolchain" in message


def test_a_lean_that_does_not_run_is_quoted(tools):
    put(tools, "lean", "#!/bin/sh\necho 'toolchain v4.99.0 is not installed' >&2; exit 1\n")
    with pytest.raises(EngineUnavailableError, match=r"lean --version(?s:.*)v4\.99\.0 is not inst"):
        toolchain_of(None)


def test_a_sandbox_that_is_not_there_is_one_sentence(tools, monkeypatch):
    put(tools, "lean", SCRIPT.format(compile=COMPILES))
    monkeypatch.setenv("LEAN_DOJO_SANDBOX", "1")
    put(tools, "bwrap", "#!/bin/sh\necho 'No permissions to create a new namespace' >&2; exit 1\n")
    with pytest.raises(
        EngineUnavailableError, match=r"does not work on this system \(No permissions"
    ):
        native_plan(["Init"])
    put(tools, "bwrap", "#!/bin/sh\nexit 0\n")
    plan = native_plan(["Init"])
    assert plan.capabilities.sandboxed
    assert plan.argv[0] == str(tools / "bwrap")
    assert "--unshare-all" in plan.argv
    (tools / "bwrap").unlink()
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/bin")
    if shutil.which("bwrap") is None:
        with pytest.raises(EngineUnavailableError, match="no `bwrap` on the PATH"):
            native_plan(["Init"])


def namespaces_allowed() -> bool:
    bwrap = shutil.which("bwrap")
    argv = [bwrap or "", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"]
    return bwrap is not None and subprocess.run(argv, check=False).returncode == 0


@pytest.mark.skipif(not namespaces_allowed(), reason="no bubblewrap that works")
def test_the_sandbox_hides_the_home_and_can_write_nothing(tools, tmp_path, monkeypatch):
    put(tools, "lean", SCRIPT.format(compile=COMPILES))
    monkeypatch.setenv("LEAN_DOJO_SANDBOX", "1")
    plan = native_plan(["Init"])
    inside = [*plan.argv[: plan.argv.index("--") + 1], "/bin/sh", "-c"]
    done = subprocess.run([*inside, "echo x > /etc/x"], capture_output=True, check=False)
    assert done.returncode != 0
    listed = subprocess.run([*inside, "ls /tmp"], capture_output=True, text=True, check=False)
    assert tmp_path.name not in listed.stdout


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``lean`` and a ``lake`` behind which the WebAssembly build works."""
    use_toolchain(tmp_path / "toolchain", monkeypatch)


@pytest.mark.slow
def test_a_native_engine_makes_every_check(on_path, tmp_path, gone):
    (tmp_path / "lakefile.toml").write_text('name = "p"\n')
    with Server(engine="native", project_path=tmp_path, timeout=120) as server:
        assert server.kind == "native"
        state = server.goal_start("∀ n : Nat, n + 0 = n")
        assert check_tactic(server, state, "intro n", strict=True).verdict is Verdict.UNPROVEN
        assert check_tactic(server, state, "sorry", strict=True).verdict is Verdict.REFUSED
        assert check_goal_proof(server, "∀ n : Nat, n + 0 = n", "intro n; rfl").valid
        assert not check_goal_proof(server, "1 = 2", "native_decide").valid
        server.process('#eval IO.println "not an answer"')
        assert server.ask("expr.echo", {"expr": "Nat"})["type"]["pp"] == "Type"
        pid = server.pid
        with pytest.raises(EngineTimeoutError):
            server.process("#eval show IO Unit from do repeat pure ()", timeout=5)
        assert pid is not None
        assert gone(pid), "it is killed, and what it started"
        assert server.goal_start("True").goals, "the next call starts another"


@pytest.mark.slow
def test_lean_check_says_what_holds(on_path, capsys):
    code = main(["lean", "check", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert [one for one in said["results"] if one["problem"]] == []
    assert said["engine"] == "native Lean engine (Lean 4.28.0)"
    assert {one["kind"] for one in said["results"]} == {"command", "refusal"}
    assert code == 0
