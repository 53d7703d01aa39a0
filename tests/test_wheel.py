"""The built wheel in a clean environment: what is packaged is what works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(wheel_home: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(wheel_home / "bin" / arguments[0]), *arguments[1:]]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_packages_come_from_the_wheel(wheel_home, tmp_path):
    code = (
        "import lean_dojo_core, lean_dojo_plugins, lean_dojo_v2;"
        "print(lean_dojo_core.__file__, lean_dojo_plugins.__file__, lean_dojo_v2.__file__)"
    )
    found = run(wheel_home, "python", "-c", code, cwd=tmp_path)
    assert found.stdout.count(str(wheel_home)) == 3, found.stderr


@pytest.mark.slow
def test_the_program_lists_the_builtins_with_provenance(wheel_home, tmp_path):
    listed = run(wheel_home, "lean-dojo", "plugins", "--json", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    names = json.dumps(json.loads(listed.stdout))
    for name in ("sft", "grpo", "retrieval", "progress", "pantograph-verified", "lean-dojo-v2"):
        assert name in names


@pytest.mark.slow
def test_the_data_files_are_packaged(wheel_home, tmp_path):
    code = (
        "from lean_dojo_v2.sample import sample_database_path, sample_project_path;"
        "from lean_dojo_v2.database import DynamicDatabase;"
        "assert (sample_project_path() / 'lean-toolchain').exists();"
        "assert (sample_project_path('extra') / 'lakefile.toml').exists();"
        "from lean_dojo_v2.benchmarks.core_library.benchmark import HELD_OUT_FILE;"
        "assert HELD_OUT_FILE.exists();"
        "from lean_dojo_v2.prover.shipped import shipped_proofs;"
        "assert DynamicDatabase(shipped_proofs(), read_only=True).repositories;"
        "print(len(DynamicDatabase(sample_database_path()).repositories));"
        "from lean_dojo_v2.lean.client.server import Server;"
        "s = Server(engine='embedded'); g = s.goal_start('1 + 1 = 2');"
        "print(s.goal_tactic(g, 'rfl').is_solved); s.close()"
    )
    found = run(wheel_home, "python", "-c", code, cwd=tmp_path)
    assert found.stdout.split() == ["2", "True"], found.stderr


@pytest.mark.slow
def test_the_engines_program_is_packaged_and_experiments_are_not(wheel_home, tmp_path):
    code = (
        "from pathlib import Path; import lean_dojo_v2;"
        "home = Path(lean_dojo_v2.__file__).parent;"
        "embedded = home / 'lean' / 'engines' / 'embedded';"
        "assert all((embedded / n).is_file() for n in ('warm_up.lean', 'host/natives.js'));"
        "print((home / 'lean' / 'program' / 'Main.lean').is_file(), (home / 'mining').exists(),"
        "(home.parent / 'experiments').exists())"
    )
    found = run(wheel_home, "python", "-c", code, cwd=tmp_path)
    assert found.stdout.split() == ["True", "False", "False"], found.stderr


@pytest.mark.slow
def test_the_suite_of_the_core_passes_against_it(wheel_home, tmp_path):
    options = ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider"]
    done = run(
        wheel_home, "python", "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options,
        str(ROOT / "tests" / "core"), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


SCRIPT = ROOT / "tests" / "data" / "users_script.py"


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_a_users_script_passes_the_type_checkers(wheel_home, tmp_path, checker):
    """As in every editor: the documented calls against what is packaged."""
    python = str(wheel_home / "bin" / "python")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.read_text())
    config = tmp_path / "mypy.ini"  # the large libraries behind ours take mypy minutes
    config.write_text(
        "[mypy]\n[mypy-torch.*,transformers.*,trl.*,peft.*,datasets.*]\nfollow_imports = skip\n"
    )
    options = {
        "pyright": ["pyright", "--pythonpath", python],
        "mypy": ["mypy", "--strict", f"--config-file={config}", "--python-executable", python],
    }[checker]
    # Node comes from its wheel, so that nothing is fetched.
    variables = {
        **os.environ,
        "PYRIGHT_PYTHON_GLOBAL_NODE": "0",
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", *options, str(script)],
        cwd=tmp_path, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
