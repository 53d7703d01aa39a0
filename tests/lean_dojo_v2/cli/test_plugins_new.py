"""The scaffold: what it writes installs, is listed, and passes its own tests as it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lean_dojo_v2.cli import main

Run = Callable[..., Any]
NAMES = {
    "reward": "few-words",
    "formatter": "bare-goal",
    "trainer": "short-only",
    "callback": "lowest-loss",
    "prover": "fixed-tactics",
    "benchmark": "small-sums",
    "command": "count-theorems",
    "trl-reward": "thinks-first",
    "trainer --from-scratch": "count-words",
    "trainer --grpo": "milder-losses",
    "reward --lean": "asks-lean",
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One new plugin of each kind, written by the program."""
    folder = tmp_path_factory.mktemp("projects")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind, name in NAMES.items():
            about = ["--author", "Ada", "--summary", f"It's what {kind}s cost: $1."]
            assert main(["plugins", "new", *kind.split(), name, *about]) == 0
    return {kind: folder / name for kind, name in NAMES.items()}


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The mypy command, with one cache for all kinds."""
    folder = tmp_path_factory.mktemp("mypy")
    large = "torch.*,transformers.*,trl.*,peft.*,datasets.*,accelerate.*"  # they take mypy minutes
    config = folder / "mypy.ini"
    config.write_text(f"[mypy]\n[mypy-{large}]\nfollow_imports = skip\n")
    return ["mypy", "--strict", f"--config-file={config}", "--cache-dir", str(folder / "cache")]


@pytest.fixture(scope="module")
def installed(
    projects: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
    pip_target: Callable[..., Mapping[str, str]],
) -> Mapping[str, str]:
    return pip_target(tmp_path_factory.mktemp("site"), list(projects.values()))


def run(environment: Mapping[str, str], folder: Path, *arguments: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
def test_it_is_listed_passes_its_tests_and_the_checks(
    projects: dict[str, Path], installed: Mapping[str, str], kind: str
) -> None:
    name, folder = NAMES[kind], projects[kind]
    listed = json.loads(run(installed, folder, "lean_dojo_v2", "plugins", "--json").stdout)
    assert name in {offer["name"] for offer in listed["offers"]}
    tested = run(installed, folder, "pytest", "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout
    assert "passed" in tested.stdout
    checked = run(installed, folder, "lean_dojo_v2", "plugins", "check", name)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("kind", NAMES)
def test_what_is_written_is_complete(projects: dict[str, Path], kind: str) -> None:
    folder, package = projects[kind], NAMES[kind].replace("-", "_")
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == ["lean-dojo-v2>=2.0,<3"]
    assert project["project"]["entry-points"]["lean_dojo"] == {NAMES[kind]: f"{package}.plugin"}
    assert yaml.safe_load((folder / ".github/workflows/test.yml").read_text())["jobs"]
    assert "Ada" in (folder / "LICENSE").read_text()
    summary = f"It's what {kind}s cost: $1."
    assert project["project"]["description"] == summary
    assert (folder / "README.md").read_text().replace(summary, "").count("$") == 0
    linted = run({}, folder, "ruff", "check", "--isolated", "--no-cache", ".")
    assert linted.returncode == 0, linted.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
def test_what_is_written_has_types(projects: dict[str, Path], mypy: list[str], kind: str) -> None:
    package = f"src/{NAMES[kind].replace('-', '_')}"
    typed = run({}, projects[kind], *mypy, package)
    assert typed.returncode == 0, typed.stdout


@pytest.mark.parametrize(
    ("kind", "name"),
    [("reward", "manifest"), ("trainer", "trainer-suite"), ("benchmark", "iterator")],
)
def test_no_class_takes_the_name_of_another(
    lean_dojo: Run, workplace: Path, kind: str, name: str
) -> None:
    assert lean_dojo("plugins", "new", kind, name, "--output-dir", "made").code == 0
    # F811 is a second definition of a name, such as of a suite, whose tests pytest then loses.
    linted = run({}, Path("made"), "ruff", "check", "--isolated", "--no-cache", ".")
    assert linted.returncode == 0, linted.stdout
    suites = (Path("made") / "tests" / f"test_{name.replace('-', '_')}.py").read_text()
    assert len(set(re.findall(r"\nclass (\w+)", suites))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reward", "json"], "'json', a name that Python or an installed package"),
        (["reward", "class"], "'class', a name that Python"),
        (["reward", "constant"], "'constant' already exists (lean-dojo-v2)"),
        (["reward", "bad name"], "kebab-case"),
        (["reward", "quoted", "--summary", 'Pays for "x".'], "the summary may contain neither"),
        (["reward", "wordy", "--summary", "One line.\nAnother."], "one line that says"),
        (["reward", "wordy", "--summary", "x" * 81], "81 characters are too many; use at most 80"),
        (["rewrad", "x"], "'rewrad' is not one of"),
        (["reward", "x", "--from-scratch"], "--from-scratch is for a trainer, not for a reward"),
        (["trl-reward", "x", "--lean"], "--lean is for a reward, not for a trl-reward"),
    ],
)
def test_a_bad_name_is_refused_and_nothing_written(
    lean_dojo: Run, workplace: Path, arguments: list[str], message: str
) -> None:
    before = sorted(workplace.iterdir())
    ran = lean_dojo("plugins", "new", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert sorted(workplace.iterdir()) == before


def test_an_existing_folder_is_left_alone(lean_dojo: Run, workplace: Path) -> None:
    (workplace / "mine").mkdir()
    (workplace / "mine" / "file").write_text("kept")
    ran = lean_dojo("plugins", "new", "reward", "mine")
    assert ran.code == 2
    assert [path.name for path in (workplace / "mine").iterdir()] == ["file"]
