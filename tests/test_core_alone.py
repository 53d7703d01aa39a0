"""The contract by itself: a plugin is tested with it in seconds, and it shares no file with the host."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from lean_dojo_v2.cli import main

ROOT = Path(__file__).parents[1]
CORE = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text("utf-8"))["project"]
HOST = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEEDS = {"attrs", "packaging", "pluggy"}


def test_it_needs_three_light_libraries_as_the_host_does() -> None:
    assert {Requirement(text).name for text in CORE["dependencies"]} == NEEDS
    assert set(CORE["dependencies"]) <= set(HOST["dependencies"])
    assert CORE["version"] == HOST["version"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of the contract."""
    folder = tmp_path_factory.mktemp("shelf")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT / "core")], check=True, capture_output=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reward", "formatter", "trl-reward"])
def test_a_plugin_is_tested_with_it_in_an_empty_environment(
    kind: str, shelf: Path, tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    """By the lines of the workflow that the template writes."""
    project, home = tmp_path / "project", tmp_path / "venv"
    assert main(["plugins", "new", kind, f"my-own-{kind}", "--output", str(project)]) == 0
    workflow = yaml.safe_load((project / ".github/workflows/test.yml").read_text())
    lines = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert lines[0] == 'pip install "lean-dojo-core>=2.0,<3" pytest'
    venv.create(home, with_pip=True)
    variables = environment(
        PATH=f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", PIP_FIND_LINKS=str(shelf)
    )
    ran = subprocess.run(
        ["sh", "-ec", "\n".join(lines)],
        cwd=project, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
    [site] = home.glob("lib/*/site-packages")
    installed = {path.name.partition("-")[0].lower() for path in site.glob("*.dist-info")}
    ours = {"lean_dojo_core", f"my_own_{kind.replace('-', '_')}"}
    assert installed - {"pip", "setuptools"} == ours | NEEDS | {"pytest", "iniconfig", "pygments"}


@pytest.mark.slow
def test_beside_the_host_it_changes_nothing(shelf: Path, wheel_home: Path, tmp_path: Path) -> None:
    [wheel] = shelf.glob("*.whl")
    [site] = wheel_home.glob("lib/*/site-packages")
    before = {path.relative_to(site) for path in site.rglob("*.py")}
    assert not before & {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    pip, python = wheel_home / "bin" / "pip", wheel_home / "bin" / "python"
    subprocess.run([pip, "install", "--no-deps", "--no-index", wheel], check=True)
    try:
        where = [python, "-c", "import lean_dojo_core; print(lean_dojo_core.__file__)"]
        found = subprocess.run(where, cwd=tmp_path, check=True, capture_output=True, text=True)
        assert Path(found.stdout.strip()) == site / "lean_dojo_core" / "__init__.py"
    finally:
        subprocess.run([pip, "uninstall", "--yes", "lean-dojo-core"], check=True)
    assert {path.relative_to(site) for path in site.rglob("*.py")} == before
