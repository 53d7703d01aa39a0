"""A third-party distribution through its life: built, installed, used, upgraded, disabled, removed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent / "example_plugin"
NAME = "lean-dojo-example"
OFFERS = {
    "novelty": "reward-function",
    "focused-goal": "dataset-formatter",
    "self-taught": "trainer",
}


class Clean:
    """A virtual environment of its own, in which this environment's packages can be imported."""

    def __init__(self, folder: Path, environment: Callable[..., dict[str, str]]) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        self.environment = environment
        site = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout
        ours = sysconfig.get_path("purelib")
        # addsitedir, not a plain line: it also reads the .pth file of an editable installation.
        Path(site.strip(), "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")

    def run(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python), *arguments],
            env=self.environment(**changes),
            capture_output=True,
            text=True,
            check=False,
        )

    def pip(self, *arguments: str) -> str:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python)]
        done = subprocess.run(
            [*pip, *arguments], env=self.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def lean_dojo(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "lean_dojo_v2", *arguments, **changes)

    def plugins(self, **changes: str) -> dict[str, dict[str, Any]]:
        listed = json.loads(self.lean_dojo("plugins", "--json", **changes).stdout)
        return {info["distribution"]: info for info in listed["plugins"]}


def build(source: Path, into: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(into), str(source)],
        check=True,
        capture_output=True,
    )
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def clean(
    tmp_path_factory: pytest.TempPathFactory, environment: Callable[..., dict[str, str]]
) -> Clean:
    """With the example's wheel installed; dependencies are resolved, without an index."""
    made = Clean(tmp_path_factory.mktemp("clean"), environment)
    wheel = build(SOURCE, tmp_path_factory.mktemp("wheel"))
    made.pip("install", "--no-index", str(wheel))
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("model"), hidden_size=64, layers=1)


def build_model(folder: Path, **sizes: int) -> Path:
    """A language model of the sample's own vocabulary, with random weights."""
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
    from lean_dojo_v2.database import DynamicDatabase

    tactics = [
        tactic
        for repository in DynamicDatabase(sample()).repositories
        for theorem in repository.iter_theorems()
        for tactic in theorem.traced_tactics
    ]
    texts = [text for tactic in tactics for text in (tactic.state_before, tactic.tactic)]
    return build_tiny_model(texts, folder, **sizes)


def sample() -> Path:
    import lean_dojo_v2

    return Path(lean_dojo_v2.__file__).parent / "sample" / "traced" / "sample.json"


def test_it_is_listed_with_provenance_and_leaves_everything_else_alone(clean: Clean) -> None:
    info = clean.plugins()[NAME]
    assert info["status"] == "active"
    assert info["version"] == "0.1.0"
    assert set(info["offers"]) == {f"{kind} {name}" for name, kind in OFFERS.items()}
    assert f"{NAME} 0.1.0" in clean.lean_dojo("--version").stdout
    assert "lean_dojo_example" not in sys.modules


@pytest.mark.slow
def test_its_own_tests_and_the_checks_pass(clean: Clean, tmp_path: Path) -> None:
    shutil.copytree(SOURCE / "tests", tmp_path / "tests")
    shutil.copy(SOURCE / "pyproject.toml", tmp_path)
    tested = clean.run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "tests"))
    assert tested.returncode == 0, tested.stdout
    checked = clean.lean_dojo("plugins", "check", NAME)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_shown_and_used_from_python_and_from_the_command_line(clean: Clean) -> None:
    shown = clean.lean_dojo("show", "self-taught").stdout
    assert "samples: int = 8" in shown
    assert "Tactics sampled per goal." in shown
    code = (
        "from lean_dojo_core import registry\n"
        "reward = registry.reward_functions['novelty'].create(scale=2)\n"
        "print(reward(completions=['simp', 'rfl'], problem=['', '']))"
    )
    assert clean.run("-c", code).stdout.strip() == "[2.0, 2.0]"
    rows = clean.lean_dojo("preview", "focused-goal", "--database", str(sample()), "--json")
    assert json.loads(rows.stdout)[0]["row"]["prompt"][0]["content"].startswith("Give the next")


@pytest.mark.slow
def test_its_formatter_trains_a_builtin_trainer(clean: Clean, model: Path, tmp_path: Path) -> None:
    ran = clean.lean_dojo(
        "train", "sft", "--formatter", "focused-goal", "--database", str(sample()),
        "--repo", "lean-dojo/lean-dojo-sample-extra", "--data-path", str(tmp_path / "data"),
        "--set", f"model_name={model}", "--set", f"output_dir={tmp_path / 'out'}",
        "--set", "trainer_args.max_steps=2", "--set", "report_to=none",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out" / "model.safetensors").is_file()


@pytest.mark.slow
def test_its_reward_joins_a_builtin_one_in_grpo(clean: Clean, model: Path, tmp_path: Path) -> None:
    ran = clean.lean_dojo(
        "train", "grpo", "--database", str(sample()),
        "--repo", "lean-dojo/lean-dojo-sample-extra", "--data-path", str(tmp_path / "data"),
        "--set", f"model_name={model}", "--set", f"output_dir={tmp_path / 'out'}",
        "--set", "reward_func={length-penalised: 1, novelty: 0.1}",
        "--set", "trainer_args.max_steps=2", "--set", "report_to=none",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "novelty" in (tmp_path / "out" / "metrics.jsonl").read_text()


@pytest.mark.slow
def test_its_trainer_learns_what_its_verifier_pays_for(
    clean: Clean, model: Path, tmp_path: Path
) -> None:
    """With a verifier that needs no Lean; the next test asks Lean."""
    ran = clean.lean_dojo(
        "train", "self-taught", "--database", str(sample()),
        "--repo", "lean-dojo/lean-dojo-sample-extra", "--data-path", str(tmp_path / "data"),
        "--set", f"model_name={model}", "--set", f"output_dir={tmp_path / 'out'}",
        "--set", "verifier=novelty", "--set", "goals_per_repo=4", "--set", "samples=2",
        "--set", "trainer_args.max_steps=2", "--set", "report_to=none",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    said = next(line for line in ran.stderr.splitlines() if "self-taught:" in line)
    found, sampled = (int(word) for word in said.split() if word.isdigit())
    assert found == sampled
    assert (tmp_path / "out" / "model.safetensors").is_file()


@pytest.mark.slow
def test_its_trainer_learns_what_lean_verifies(clean: Clean, tmp_path: Path) -> None:
    ran = clean.lean_dojo(
        "train", "self-taught", "--database", str(sample()),
        "--repo", "lean-dojo/lean-dojo-sample-extra", "--data-path", str(tmp_path / "data"),
        "--set", "model_name=shipped", "--set", f"output_dir={tmp_path / 'out'}",
        "--set", "batch_size=8", "--set", "goals_per_repo=12", "--set", "samples=2",
        "--set", "temperature=0.3", "--set", "keep_human=false",
        "--set", "trainer_args.max_steps=2", "--set", "report_to=none",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    said = next(line for line in ran.stderr.splitlines() if "self-taught:" in line)
    found, sampled = (int(word) for word in said.split() if word.isdigit())
    assert 0 < found < sampled


def test_disabled_by_environment(clean: Clean) -> None:
    info = clean.plugins(LEAN_DOJO_DISABLE_PLUGINS=NAME)[NAME]
    assert info["status"] == "disabled"
    ran = clean.lean_dojo("show", "novelty", LEAN_DOJO_DISABLE_PLUGINS="example")
    assert ran.returncode == 2
    assert "no plugin is called 'novelty'" in ran.stderr


@pytest.mark.slow
def test_upgraded_then_incompatible_then_removed(
    clean: Clean, tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    """In this order, in one environment, as a user would meet it."""
    source = tmp_path / "source"
    shutil.copytree(SOURCE, source)
    project = source / "pyproject.toml"
    manifest = source / "src" / "lean_dojo_example" / "plugin.py"

    project.write_text(project.read_text().replace('version = "0.1.0"', 'version = "0.2.0"'))
    manifest.write_text(manifest.read_text().replace('name="novelty"', 'name="novelty-bonus"'))
    clean.pip("install", "--no-index", "--upgrade", str(build(source, tmp_path / "two")))
    assert clean.plugins()[NAME]["version"] == "0.2.0"
    old = clean.lean_dojo("show", "novelty")
    assert old.returncode == 2
    assert "Did you mean 'novelty-bonus'?" in old.stderr
    assert clean.lean_dojo("show", "novelty-bonus").returncode == 0

    text = project.read_text().replace('"0.2.0"', '"0.3.0"').replace(">=2.0,<3", ">=3,<4")
    project.write_text(text)
    wheel = build(source, tmp_path / "three")
    # pip itself refuses; --no-deps is how such a thing gets there all the same.
    with pytest.raises(AssertionError, match="lean-dojo-v2"):
        clean.pip("install", "--no-index", "--upgrade", str(wheel))
    clean.pip("install", "--no-index", "--no-deps", "--upgrade", str(wheel))
    info = clean.plugins()[NAME]
    assert info["status"] == "incompatible"
    assert "requires lean-dojo-v2<4,>=3, but 2." in info["error"]

    clean.pip("uninstall", "--yes", NAME)
    assert NAME not in clean.plugins()
    assert clean.lean_dojo("show", "self-taught").returncode == 2
    assert clean.lean_dojo("show", "length-penalised").returncode == 0
