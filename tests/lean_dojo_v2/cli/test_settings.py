"""Settings explain themselves: `--help` with a name, and `config`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from lean_dojo_core import registry
from lean_dojo_core.settings import settings_of
from lean_dojo_v2.cli import cli

Run = Callable[..., Any]
Environment = Callable[..., dict[str, str]]
LEARNING = {"torch", "transformers", "trl", "peft", "datasets"}


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
    assert "toy.yaml, line 5: model_name: expected a valid string" in empty.err
    Path("toy.yaml").write_text(text.replace("model_name:", "model_name: m"))
    filled = lean_dojo("train", "toy", "-c", "toy.yaml", "--dry-run")
    plain = lean_dojo("train", "toy", "--set", "model_name=m", "--dry-run")
    assert YAML(typ="safe").load(filled.out) == YAML(typ="safe").load(plain.out)


def test_every_default_of_sft_may_be_uncommented(lean_dojo: Run) -> None:
    text = lean_dojo("config", "init", "sft").out
    begun = [line for line in text.splitlines() if line.startswith("# ") and ": " in line]
    names = {part.name for part in settings_of(registry.trainers["sft"].load())}
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
