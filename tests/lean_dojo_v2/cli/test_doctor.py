from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_v2.cli.doctor import leftovers


def doctor(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lean_dojo_v2", "doctor", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_healthy_installation(lean_dojo: Callable[..., Any]) -> None:
    ran = lean_dojo("doctor", "--json")
    checks = ran.json
    assert [check for check in checks if check["verdict"] == "problem"] == []
    assert ran.code == 0
    found = {(check["area"], check["subject"]): check["detail"] for check in checks}
    assert "threads" in found["devices", "cpu"]
    assert "Lean 4." in found["lean", "embedded"]
    assert "trainer sft" in " ".join(
        detail for (area, _), detail in found.items() if area == "plugins"
    )


@pytest.mark.slow
def test_broken_plugins_and_an_old_version_are_problems(
    make_wheel: Callable[..., Path],
    pip_target: Callable[..., Mapping[str, str]],
    tmp_path: Path,
) -> None:
    broken = make_wheel(
        tmp_path / "wheels",
        "broken",
        {"broken.py": "import a_module_that_nobody_has"},
        entry_points={"plugin": "broken"},
    )
    fork = make_wheel(tmp_path / "wheels", "my-fork", {"lean_dojo_v2/forked.py": ""})
    changes = pip_target(tmp_path / "site", [broken, fork])
    ran = doctor(changes)
    assert ran.returncode == 1
    assert "a_module_that_nobody_has" in " ".join(ran.stdout.split())
    assert "my-fork" in ran.stdout
    assert "also owns the package lean_dojo_v2" in " ".join(ran.stdout.split())
    assert "2 problems found." in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_folders_of_version_1_are_noticed(tmp_path: Path) -> None:
    assert leftovers(tmp_path) == []
    (tmp_path / "external_api").mkdir()
    assert leftovers(tmp_path) == [tmp_path / "external_api"]


def test_a_wrong_engine_is_one_message(environment: Callable[..., dict[str, str]]) -> None:
    ran = doctor(environment(LEAN_DOJO_ENGINE="nativ"))
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.strip().endswith("is not an engine; use auto, native or embedded.")
