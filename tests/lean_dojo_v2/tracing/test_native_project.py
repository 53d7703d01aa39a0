"""What the project's own Lean is asked, and what is kept: options, lock, builds, processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from lean_dojo_core.errors import EngineUnavailableError, LeanError
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean.engines import native as native_engine
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.project.lakefile import read_project
from lean_dojo_v2.tracing.project.options import LeanArguments, read_arguments
from lean_dojo_v2.tracing.project.workspace import read_workspace
from lean_dojo_v2.tracing.running.native import NativeLean

Project = Callable[..., Path]

FILES = {
    "Lib.lean": "import Lib.A\ntheorem b : 1 = 1 := by\n  exact a\n",
    "Lib/A.lean": "theorem a : 1 = 1 := by\n  rfl\n",
}


@pytest.fixture
def own_lean(lake: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PATH", str(lake.bin), prepend=os.pathsep)
    lake.reset()
    yield lake
    lake.reset()


def traced(folder: Path, **settings: Any) -> Repository:
    return trace_repository(LeanGitRepo.from_path(folder), engine="native", jobs=1, **settings)


def names(repository: Repository) -> list[str]:
    return sorted(theorem.full_name for theorem in repository.iter_theorems())


# --- what is kept ------------------------------------------------------------------------------


def test_an_import_that_is_not_built_is_asked_for_again(project: Project, own_lean: Any) -> None:
    folder = project(FILES)
    own_lean.unbuilt = {"Lib.A"}
    first = traced(folder)
    assert names(first) == ["a"]
    (error,) = first.metadata["trace_errors"]
    assert error.startswith("Lib.lean:1:1: unknown module prefix 'Lib.A'")
    own_lean.reset()  # lake build has succeeded
    second = traced(folder)
    assert own_lean.asked == ["Lib.lean"]
    assert names(second) == ["a", "b"]
    assert "trace_errors" not in second.metadata


def test_an_error_of_the_file_itself_is_kept(project: Project, own_lean: Any) -> None:
    folder = project({**FILES, "Lib/Bad.lean": "theorem bad : 1 = 2 := by\n  skip\n"})
    first = traced(folder)
    assert first.metadata["trace_errors"]
    own_lean.reset()
    assert traced(folder).metadata["trace_errors"] == first.metadata["trace_errors"]
    assert own_lean.asked == []


def lock(folder: Path, commit: str) -> None:
    package = {"type": "git", "name": "dep", "url": "https://example.org/d", "rev": commit}
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": [package]}))


def test_other_dependencies_are_another_state(project: Project, own_lean: Any) -> None:
    folder = project(FILES)

    def asked() -> list[str]:
        own_lean.reset()
        traced(folder)
        return sorted(own_lean.asked)

    assert asked() == sorted(FILES)
    assert asked() == []
    lock(folder, "a" * 40)
    assert asked() == sorted(FILES)
    lock(folder, "b" * 40)  # lake update
    assert asked() == sorted(FILES)
    lock(folder, "a" * 40)
    assert asked() == []
    lakefile = folder / "lakefile.toml"
    lakefile.write_text(lakefile.read_text() + "[leanOptions]\npp.unicode.fun = true\n")
    assert asked() == sorted(FILES)


def test_a_dependency_beside_the_project_counts_with_its_lakefile(
    project: Project, own_lean: Any
) -> None:
    near = project({}, lakefile='name = "near"\n', name="near")
    folder = project(FILES)
    package = {"type": "path", "name": "near", "dir": "../near"}
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": [package]}))
    traced(folder)
    own_lean.reset()
    (near / "lakefile.toml").write_text('name = "near"\nmoreLeanArgs = ["-DmaxRecDepth=1000"]\n')
    traced(folder)
    assert sorted(own_lean.asked) == sorted(FILES)


# --- options -----------------------------------------------------------------------------------

AUTO = "theorem {0} (x : α) : x = x := by\n  rfl\n"
"""Lean adds ``{{α : Sort u}}`` unless ``autoImplicit`` is off."""


def test_a_file_gets_the_options_of_its_package_and_library(
    project: Project, own_lean: Any
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
    project: Project, own_lean: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
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
    own_lean.translated = (
        'name = "x"\n[leanOptions]\nautoImplicit = false\n[[lean_lib]]\nname = "Lib"\n'
    )
    assert traced(folder).metadata["trace_errors"]


def test_a_dependency_has_its_own_options(project: Project, own_lean: Any) -> None:
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


def test_arguments_of_targets() -> None:
    configuration = {
        "leanOptions": {"pp": {"unicode": {"fun": True}}, "maxHeartbeats": 4000},
        "moreLeanArgs": ["-Dweak.warningAsError=true", "--tstack=8000", "-D", "x.y=z"],
        "lean_lib": [
            {"name": "Lib", "leanOptions": {"weak.linter.all": False}},
            {"name": "Deep", "roots": ["Lib.Deep"], "moreLeanArgs": ["-DElab.async=true"]},
        ],
        "lean_exe": [{"name": "run", "root": "Main", "leanOptions": {"a": 1}}],
    }
    package = ("-Dpp.unicode.fun=true", "-DmaxHeartbeats=4000", "--tstack=8000", "-Dx.y=z")
    arguments = read_arguments(configuration)
    assert arguments.of("Lib.A") == (*package, "-Dweak.linter.all=false")
    assert arguments.of("Lib.Deep.A") == package
    assert arguments.of("Library") == package
    assert arguments.of("Main") == (*package, "-Da=1")
    assert read_arguments({}) == LeanArguments()


# --- processes ---------------------------------------------------------------------------------

SLEEPY = """#!/bin/sh
case "$*" in
    "env lean --version") echo "Lean (version 4.28.0)" ;;
    build) ;;
    *) sleep 3600 & echo $! >> "$SLEEPERS"; wait ;;
esac
"""


@pytest.fixture
def sleepers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``lake`` whose Lean never ends, and the file where it writes the numbers of its children."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "lake").write_text(SLEEPY)
    (tools / "lake").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("SLEEPERS", str(tmp_path / "sleepers"))
    return tmp_path / "sleepers"


def started(sleepers: Path) -> list[int]:
    return [int(line) for line in sleepers.read_text().split()] if sleepers.exists() else []


def wait_until_dead(pids: list[int]) -> None:
    """Wait; the limit of a test ends it where they live on."""
    for pid in pids:
        while psutil.pid_exists(pid):
            try:
                if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    break
            except psutil.NoSuchProcess:
                break
            time.sleep(0.02)


@pytest.mark.timeout(120)
def test_a_file_that_takes_too_long_leaves_nothing_behind(project: Project, sleepers: Path) -> None:
    read = read_project(project({"Lib.lean": FILES["Lib/A.lean"]}))
    (file,) = read_workspace(read).all
    for timeout in (1, 4, 16):  # the first that gives the child the time to start
        with pytest.raises(LeanError, match="took longer than"):
            NativeLean(read).elaborate(file, timeout)
        if pids := started(sleepers):
            break
    assert pids
    wait_until_dead(pids)


@pytest.mark.timeout(120)
def test_asking_lake_for_a_path_leaves_nothing_behind(
    project: Project, sleepers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for timeout in (1.0, 4.0, 16.0):
        monkeypatch.setattr(native_engine, "_LAKE_TIMEOUT", timeout)
        with pytest.raises(EngineUnavailableError, match="took longer than"):
            native_engine.lake_lean_path(project({}))
        if pids := started(sleepers):
            break
    assert pids
    wait_until_dead(pids)


@pytest.mark.timeout(120)
def test_what_other_threads_run_can_be_stopped(project: Project, sleepers: Path) -> None:
    read = read_project(project({"Lib.lean": FILES["Lib/A.lean"]}))
    (file,) = read_workspace(read).all
    lean = NativeLean(read)
    said: list[str] = []

    def elaborate() -> None:
        with pytest.raises(LeanError) as caught:
            lean.elaborate(file, 3600)
        said.append(str(caught.value))

    thread = threading.Thread(target=elaborate)
    thread.start()
    while not started(sleepers):
        time.sleep(0.02)
    lean.stop()
    thread.join()
    wait_until_dead(started(sleepers))
    assert "failed with code -9" in said[0]
    with pytest.raises(LeanError, match="the work was stopped"):
        lean.elaborate(file, 3600)


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
