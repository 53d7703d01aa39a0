"""What Lake and the project's own Lean are asked, and what is kept: options, lock, builds, processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import is_over

from lean_dojo_v2.cli import main
from lean_dojo_v2.database import Repository
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean.engines.native import run_lean_tool
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.tracing import FileDone, LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.project.workspace import read_workspace
from lean_dojo_v2.tracing.running.engines import choose_engine
from lean_dojo_v2.tracing.running.lake import LeanOptions, read_options
from tests.lean_dojo_v2.tracing.conftest import OwnLean, write_program

Project = Callable[..., Path]

FILES = {
    "Lib.lean": "import Lib.A\ntheorem b : 1 = 1 := by\n  exact a\n",
    "Lib/A.lean": "theorem a : 1 = 1 := by\n  rfl\n",
}
APART = {"Lib/A.lean": FILES["Lib/A.lean"]}


def traced(folder: Path, **settings: Any) -> Repository:
    return trace_repository(LeanGitRepo.from_path(folder), engine="native", jobs=1, **settings)


def names(repository: Repository) -> list[str]:
    return sorted(theorem.full_name for theorem in repository.iter_theorems())


def asked(folder: Path) -> list[str]:
    """Trace a project; give the files that Lean was asked for."""
    reports: list[FileDone] = []
    traced(folder, progress=reports.append)
    return sorted(report.file.path for report in reports if not report.cached)


# --- what there has to be ----------------------------------------------------------------------


def test_there_is_no_lake(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = project(FILES)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailableError, match="needs `lake`"):
        traced(folder)


def test_a_foreign_engine_cannot_trace(
    project: Project, own_lean: OwnLean, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", sys.executable)
    with pytest.raises(EngineUnavailableError, match="LEAN_DOJO_PANTOGRAPH names an engine that"):
        traced(project(FILES))


def test_a_lean_that_is_too_old_says_so_before_a_build(project: Project, own_lean: OwnLean) -> None:
    tools = own_lean.translated.parent
    old = 'case "$1" in --version) echo "Lean (version 4.9.0)" ;; *) echo unknown; exit 1 ;; esac'
    write_program(tools / "lean", f"#!/bin/sh\n{old}\n")
    write_program(tools / "lake", f"#!/bin/sh\ntouch {tools}/built\n")
    with pytest.raises(
        EngineUnavailableError, match=r"(?s)Lean 4\.9\.0:\nunknown.*4\.20\.0 and newer"
    ):
        traced(project(FILES))
    assert not (tools / "built").exists()


def test_another_lean_than_the_projects_is_named_before_it_traces(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project(FILES)
    for version, wanted in {"4.28.1": "", "4.31.0": "written for Lean 4.31, and"}.items():
        (folder / "lean-toolchain").write_text(f"leanprover/lean4:v{version}\n")
        read = LeanGitRepo.from_path(folder).project
        with caplog.at_level(logging.WARNING):
            choose_engine("embedded", read, read_workspace(read))
        assert (wanted in caplog.text) if wanted else not caplog.text
    assert "the embedded engine is Lean 4.28" in caplog.text
    assert "--engine native" in caplog.text


# --- what is kept ------------------------------------------------------------------------------


def test_what_rests_on_an_import_that_is_not_built_is_asked_for_again(
    project: Project, own_lean: OwnLean
) -> None:
    """Without it built, it is elaborated in memory, without its options."""
    folder = project(FILES)
    assert asked(folder) == sorted(FILES)
    own_lean.build(folder)
    assert asked(folder) == ["Lib.lean"]
    assert asked(folder) == []
    assert names(traced(folder)) == ["a", "b"]


def test_what_is_missing_is_asked_for_again(project: Project, own_lean: OwnLean) -> None:
    folder = project({**FILES, "Lib.lean": "import Dep\n" + FILES["Lib.lean"]})
    repository = traced(folder)
    assert names(repository) == ["a"]
    (error,) = repository.metadata["trace_errors"]
    assert error.startswith(
        "Lib.lean:1:1: unknown module Dep: neither in Lean's library nor in the pro"
    )
    assert asked(folder) == ["Lib.lean"]


def test_an_error_of_the_file_itself_is_kept(project: Project, own_lean: OwnLean) -> None:
    folder = project({"Lib.lean": "theorem bad : 1 = 2 := by\n  skip\n", **APART})
    first = traced(folder)
    assert first.metadata["trace_errors"]
    assert asked(folder) == []
    assert traced(folder).metadata["trace_errors"] == first.metadata["trace_errors"]


def lock(folder: Path, commit: str) -> None:
    package = {"type": "git", "name": "dep", "url": "https://example.org/d", "rev": commit}
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": [package]}))


def test_other_dependencies_are_another_state(project: Project, own_lean: OwnLean) -> None:
    folder = project(APART)
    assert asked(folder) == sorted(APART)
    assert asked(folder) == []
    lock(folder, "a" * 40)
    assert asked(folder) == sorted(APART)
    lock(folder, "b" * 40)  # lake update
    assert asked(folder) == sorted(APART)
    lock(folder, "a" * 40)
    assert asked(folder) == []
    lakefile = folder / "lakefile.toml"
    lakefile.write_text(lakefile.read_text() + "[leanOptions]\npp.unicode.fun = true\n")
    assert asked(folder) == sorted(APART)


def test_a_dependency_beside_the_project_counts_with_its_lakefile(
    project: Project, own_lean: OwnLean
) -> None:
    near = project({}, lakefile='name = "near"\n', name="near")
    folder = project(APART)
    package = {"type": "path", "name": "near", "dir": "../near"}
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": [package]}))
    assert asked(folder) == sorted(APART)
    (near / "lakefile.toml").write_text('name = "near"\nmoreLeanArgs = ["-DmaxRecDepth=1000"]\n')
    assert asked(folder) == sorted(APART)


# --- options -----------------------------------------------------------------------------------

AUTO = "theorem {0} (x : α) : x = x := by\n  rfl\n"
"""Lean adds ``{{α : Sort u}}`` unless ``autoImplicit`` is off."""


def test_a_file_gets_the_options_of_its_package_and_library(
    project: Project, own_lean: OwnLean
) -> None:
    lakefile = """
        name = "x"
        moreLeanArgs = ["-D", "warningAsError=true", "-Dpp.unicode.fun=true"]
        leanOptions = {autoImplicit = false}
        [[lean_lib]]
        name = "Lib"
        [[lean_lib]]
        name = "Auto"
        leanOptions = [{name = "autoImplicit", value = true}]
    """
    files = {
        "Lib.lean": AUTO.format("strict"),
        "Auto.lean": AUTO.format("auto") + "theorem open_ : 1 = 1 := by sorry\n",
        "Auto/B.lean": "theorem f : (fun x : Nat => x) 1 = 1 := by\n  show (fun y => y) 1 = 1\n  rfl\n",
    }
    repository = traced(project(files, lakefile))
    (error,) = repository.metadata["trace_errors"]
    assert error.startswith("Lib.lean:1:")
    assert names(repository) == ["auto", "f", "open_"]
    assert [t.full_name for t in repository.sorry_theorems_unproved] == ["open_"]
    (shown,) = (t for t in repository.proven_theorems if t.full_name == "f")
    assert "(fun x ↦ x) 1" in shown.traced_tactics[0].state_before


def test_lake_says_what_a_lakefile_in_lean_amounts_to(
    project: Project, own_lean: OwnLean, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    folder = project({"Lib.lean": AUTO.format("strict"), "Lib/A.lean": FILES["Lib/A.lean"]})
    lakefile = "import Lake\nopen Lake DSL\npackage x where\n  leanOptions := opts\nlean_lib Lib\n"
    (folder / "lakefile.lean").write_text(lakefile)  # Lake takes this one of the two
    with caplog.at_level(logging.WARNING):
        assert names(traced(folder)) == ["a", "strict"]
    assert "traced without its leanOptions" in caplog.text
    caplog.clear()
    command = ["trace", str(folder), "-o", str(tmp_path / "x.json"), "--engine", "native"]
    with caplog.at_level(logging.WARNING):
        assert main(command) == 0  # the command says so too
    assert "traced without its leanOptions" in caplog.text
    own_lean.translated.write_text(
        'name = "x"\n[leanOptions]\nautoImplicit = false\n[[lean_lib]]\nname = "Lib"\n'
    )
    assert traced(folder).metadata["trace_errors"]


def test_a_dependency_has_its_own_options(project: Project, own_lean: OwnLean) -> None:
    folder = project({"Lib.lean": "import Dep\n" + AUTO.format("auto")})
    near = folder / "near"
    near.mkdir()
    (near / "Dep.lean").write_text(AUTO.format("strict") + FILES["Lib/A.lean"])
    (near / "lakefile.toml").write_text(
        'name = "dep"\nleanOptions.autoImplicit = false\n[[lean_lib]]\nname = "Dep"\n'
    )
    packages = [{"type": "path", "name": "dep", "dir": "near"}]
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": packages}))
    repository = traced(folder, build_deps=True)
    (error,) = repository.metadata["trace_errors"]
    assert error.startswith("near/Dep.lean:1:")
    assert names(repository) == ["auto"]


def test_options_of_targets() -> None:
    configuration = {
        "leanOptions": {"pp": {"unicode": {"fun": True}}, "maxHeartbeats": 0},
        "moreLeanArgs": ["-Dweak.warningAsError=true", "--tstack=8000", "-D", "x.y=z", "-Dn=4"],
        "lean_lib": [
            {"name": "Lib", "leanOptions": {"weak.linter.all": False}},
            {"name": "Deep", "roots": ["Lib.Deep"], "moreLeanArgs": ["-DElab.async=true"]},
        ],
        "lean_exe": [{"name": "run", "root": "Main", "leanOptions": {"a": 1}}],
    }
    package = {"pp.unicode.fun": True, "maxHeartbeats": 2**31 - 1, "x.y": "z", "n": 4}
    options = read_options(configuration)
    assert options.of("Lib.A") == {**package, "linter.all": False}
    assert options.of("Lib.Deep.A") == package
    assert options.of("Library") == package
    assert options.of("Main") == {**package, "a": 1}
    assert options.left_out == ("--tstack=8000",)
    assert read_options({}) == LeanOptions()


# --- processes ---------------------------------------------------------------------------------

SLEEPY = """#!/bin/sh
case "$1" in
--version) echo "Lean (version 4.28.0)" ;;
--root=*) printf olean > "$4" ;;
--run) echo ready. >&3; sleep 3600 & echo $! >> "$SLEEPERS"; wait ;;
*) sleep 3600 & echo $! >> "$SLEEPERS"; wait ;;
esac
"""
LAKE = """#!/bin/sh
test "$1" = build || echo
"""


@pytest.fixture
def sleepers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``lean`` that never answers, and the file where it writes the numbers of its children."""
    tools = tmp_path / "tools"
    tools.mkdir()
    write_program(tools / "lean", SLEEPY)
    write_program(tools / "lake", LAKE)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SLEEPERS", str(tmp_path / "sleepers"))
    return tmp_path / "sleepers"


def started(sleepers: Path) -> list[int]:
    return [int(line) for line in sleepers.read_text().split()] if sleepers.exists() else []


def wait_until_dead(pids: list[int]) -> None:
    """Wait; the limit of a test ends it where they live on."""
    for pid in pids:
        while not is_over(pid):
            time.sleep(0.02)


@pytest.mark.timeout(120)
def test_a_file_that_takes_too_long_leaves_nothing_behind(project: Project, sleepers: Path) -> None:
    folder = project(APART)
    for timeout in (1, 4, 16):  # the first that gives the child the time to start
        with pytest.raises(TraceError, match=f"not answer within {timeout} s"):
            traced(folder, timeout=timeout)
        if pids := started(sleepers):
            break
    assert pids
    wait_until_dead(pids)


@pytest.mark.timeout(120)
def test_a_tool_that_takes_too_long_leaves_nothing_behind(project: Project, sleepers: Path) -> None:
    for timeout in (1.0, 4.0, 16.0):
        with pytest.raises(EngineUnavailableError, match="took longer than"):
            run_lean_tool(["lean", "sleep"], project({}), timeout=timeout)
        if pids := started(sleepers):
            break
    assert pids
    wait_until_dead(pids)


@pytest.mark.timeout(120)
def test_an_interrupted_trace_leaves_nothing_behind(
    project: Project, sleepers: Path, tmp_path: Path
) -> None:
    folder = project({"Lib.lean": "", **{f"Lib/F{n}.lean": "" for n in range(6)}})
    arguments = ["trace", str(folder), "-o", str(tmp_path / "x.json"), "--engine", "native"]
    command = [sys.executable, "-m", "lean_dojo_v2", *arguments, "-j", "2"]
    process = subprocess.Popen(command, start_new_session=True)
    while len(started(sleepers)) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() != 0
    pids = started(sleepers)
    assert len(pids) == 2  # what waited was not begun
    wait_until_dead(pids)
