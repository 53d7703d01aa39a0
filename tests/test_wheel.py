"""The built wheel in a clean environment: what is packaged is what works."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """A virtual environment with the wheel; its dependencies are those of this environment.

    They come by a path file, which does not bring this environment's editable install along.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    home = folder / "venv"
    site = Path(
        subprocess.run(
            [home / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()
    )  # fmt: skip
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    return home


def run(environment: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(environment / "bin" / arguments[0]), *arguments[1:]]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_packages_come_from_the_wheel(environment, tmp_path):
    code = (
        "import lean_dojo_core, lean_dojo_plugins, lean_dojo_v2;"
        "print(lean_dojo_core.__file__, lean_dojo_plugins.__file__, lean_dojo_v2.__file__)"
    )
    found = run(environment, "python", "-c", code, cwd=tmp_path)
    assert found.stdout.count(str(environment)) == 3, found.stderr


@pytest.mark.slow
def test_the_program_lists_the_builtins_with_provenance(environment, tmp_path):
    listed = run(environment, "lean-dojo", "plugins", "--json", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    names = json.dumps(json.loads(listed.stdout))
    for name in ("sft", "grpo", "retrieval", "progress", "pantograph-verified", "lean-dojo-v2"):
        assert name in names


@pytest.mark.slow
def test_the_data_files_are_packaged(environment, tmp_path):
    code = (
        "from lean_dojo_v2.sample import sample_database_path, sample_project_path;"
        "from lean_dojo_v2.database import DynamicDatabase;"
        "assert (sample_project_path() / 'lean-toolchain').exists();"
        "assert (sample_project_path('extra') / 'lakefile.toml').exists();"
        "print(len(DynamicDatabase(sample_database_path()).repositories));"
        "from lean_dojo_v2.lean.server import Server;"
        "s = Server(engine='embedded'); g = s.goal_start('1 + 1 = 2');"
        "print(s.goal_tactic(g, 'rfl').is_solved); s.close()"
    )
    found = run(environment, "python", "-c", code, cwd=tmp_path)
    assert found.stdout.split() == ["2", "True"], found.stderr


@pytest.mark.slow
def test_the_suites_of_the_light_rooms_pass_against_it(environment, tmp_path):
    folders = [
        str(ROOT / "tests" / name) for name in ("core", "lean_dojo_v2/cli", "plugins/rewards")
    ]
    options = ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider"]
    # The path file shows doctor this environment's editable install besides the wheel, which it
    # rightly reports.
    options.append(f"--ignore={ROOT / 'tests' / 'lean_dojo_v2' / 'cli' / 'test_doctor.py'}")
    done = run(
        environment, "python", "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options, *folders,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
