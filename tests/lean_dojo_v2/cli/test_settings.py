"""Settings explain themselves: `--help` with a name, `config`, completion, a cache that is quick."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from ruamel.yaml import YAML

from lean_dojo_core import registry
from lean_dojo_v2.cli import cli
from lean_dojo_v2.described import describe

Run = Callable[..., Any]
Environment = Callable[..., dict[str, str]]
LEARNING = {"torch", "transformers", "trl", "peft", "datasets"}


def completed(*words: str) -> list[str]:
    complete = ShellComplete(cli, {}, "lean-dojo", "_LEAN_DOJO_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


@pytest.fixture(scope="module", autouse=True)
def described() -> None:
    """Have what the tests ask for in the cache, as after its first use."""
    for name in ("sft", "grpo", "retrieval"):
        describe(registry.trainers[name])
    describe(registry.reward_functions["length-penalised"])


def test_help_lists_the_settings_of_the_trainer_that_is_named(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "sft", "--help")
    assert ran.code == 0
    assert "Settings of sft" in ran.out
    assert "model_name str (required)" in ran.out
    assert "lr float = 2e-05" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "Settings of" not in lean_dojo("train", "--help").out
    assert "reward_func" in lean_dojo("preview", "grpo", "-h").out
    assert "config.max_epochs int = 1" in lean_dojo("train", "retrieval", "--help").out


@pytest.mark.usefixtures("toy")
def test_a_file_of_settings_is_written_with_comments(
    lean_dojo: Run, workplace: Path, tmp_path: Path
) -> None:
    ran = lean_dojo("config", "init", "toy", "-o", "toy.yaml")
    assert ran.code == 0, ran.err
    text = Path("toy.yaml").read_text()
    assert "# Any text. (str, required)\nmodel_name:\n" in text
    assert "# Step size. (float)\n# lr: 0.001\n" in text
    assert "# run:\n" in text
    again = lean_dojo("config", "init", "toy", "-o", "toy.yaml")
    assert again.code == 2
    assert "already exists" in again.err
    # As it is, it says what is missing; filled in, it means the defaults.
    empty = lean_dojo("train", "toy", "-c", "toy.yaml", "--dry-run")
    assert empty.code == 2
    assert "toy.yaml, line 5: model_name: expected str" in empty.err
    Path("toy.yaml").write_text(text.replace("model_name:", "model_name: m"))
    filled = lean_dojo("train", "toy", "-c", "toy.yaml", "--dry-run")
    plain = lean_dojo("train", "toy", "--set", "model_name=m", "--dry-run")
    assert YAML(typ="safe").load(filled.out) == YAML(typ="safe").load(plain.out)


def test_every_default_of_sft_may_be_uncommented(lean_dojo: Run) -> None:
    text = lean_dojo("config", "init", "sft").out
    begun = [line for line in text.splitlines() if line.startswith("# ") and ": " in line]
    names = {part.name for part in describe(registry.trainers["sft"]).settings}
    defaults = [line[2:] for line in begun if line[2:].partition(":")[0] in names]
    assert len(defaults) == len(names) - 1  # model_name has none
    YAML(typ="safe").load("\n".join(defaults))


@pytest.fixture(scope="module")
def schema() -> Any:
    """The schema of sft's settings."""
    schema = json.loads(CliRunner().invoke(cli, ["config", "schema", "sft"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "model_name: m\nlora_config: {r: 8, task_type: CAUSAL_LM}\ntrainer_args: {optim: sgd}",
            "",
        ),
        ("model_name: m\nrun: {database: a.json, repositories: [a/b]}", ""),
        ("model_name: m\nlr: high", "lr"),
        ("model_name: m\nlora_config: {rank: 8}", "lora_config"),
        ("model_name: m\ntrainer_args: {optimiser: sgd}", "trainer_args"),
        ("lr: 1", "model_name"),
        ("model_name: m\nlearning_rate: 1", "learning_rate"),
    ],
)
def test_a_schema_tells_right_files_from_wrong_ones(schema: Any, text: str, wrong: str) -> None:
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(YAML(typ="safe").load(text)))
    assert bool(errors) == bool(wrong)
    assert all(wrong in error.json_path + error.message for error in errors)


def test_keys_and_values_are_completed() -> None:
    words = ["train", "sft", "--set"]
    assert {"lr=", "lora_config=", "lora_config."} <= set(completed(*words, ""))
    assert completed(*words, "lora_config.lora_al") == ["lora_config.lora_alpha="]
    assert "trainer_args.optim=" in completed(*words, "trainer_args.opt")
    assert completed(*words, "resume=") == ["resume=true", "resume=false"]
    assert "formatter=tactic-chat" in completed(*words, "formatter=tac")
    assert completed(*words, "callbacks=be") == ["callbacks=best-tactics"]
    assert completed(*words, "lora_config=n") == ["lora_config=null"]
    assert completed("train", "nobody", "--set", "") == []
    assert "scale=" in completed("reward", "score", "length-penalised", "f.jsonl", "--set", "s")


def test_what_is_not_at_hand_is_made_for_the_next_time(
    environment: Environment, tmp_path: Path
) -> None:
    variables = environment(LEAN_DOJO_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    code = (
        "import sys; from lean_dojo_core import registry\n"
        "from lean_dojo_v2.described import describe\n"
        "try: describe(registry.trainers['retrieval'], wait=False)\n"
        "except TimeoutError: print('not yet')\n"
        f"print(sorted({LEARNING!r} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables
    )
    assert ran.stdout.split("\n")[:2] == ["not yet", "[]"]


@pytest.mark.slow
def test_from_the_cache_nothing_is_imported(environment: Environment) -> None:
    code = (
        "import sys; from lean_dojo_v2.cli import main\n"
        "main(['show', 'sft']); main(['show', 'sft', '--json']); main(['train', 'sft', '--help'])\n"
        f"print(sorted({LEARNING!r} & set(sys.modules)))"
    )
    for _ in range(2):  # the first fills the cache: this process may have plugins that they lack
        ran = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
        )
    assert ran.stdout.splitlines()[-1] == "[]"
    assert "lr: float = 2e-05" in ran.stdout


def test_the_cache_knows_a_change_of_the_package(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "changing"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(tmp_path / "cache"))

    class Entry:
        qualified_name, name, loads = "changing:it", "it", 0
        spec = type("Spec", (), {"target": "changing.part:It"})()

        def load(self) -> Any:
            self.loads += 1
            return type("It", (), {"__init__": lambda self, size=self.loads: None})

    entry: Any = Entry()
    assert [describe(entry).settings[0].default for _ in range(3)] == [1, 1, 1]
    (folder / "part.py").write_text("x = 1\n")
    assert describe(entry).settings[0].default == 2
    [one, two] = (tmp_path / "cache" / "settings").iterdir()
    one.write_text("{")  # half of it
    two.write_text("[]")
    assert describe(entry).settings[0].default == 3
    assert json.dumps(describe(entry).settings[0].as_json())
    assert os.listdir(tmp_path / "cache" / "settings")  # noqa: PTH208
