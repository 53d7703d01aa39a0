"""YAML, JSON and TOML of the documentation, read by the code that they are for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from lean_dojo_core import registry

CONFIGS = Path(__file__).resolve().parents[2] / "docs" / "configs"
TRAINER_MARK = "# lean-dojo train: "


def read_as_what_it_is(text: str, file: Path) -> None:
    """Read a settings file with the loader that a user's command would use."""
    file.write_text(text, encoding="utf-8")
    if text.startswith(TRAINER_MARK):
        from lean_dojo_v2.cli.run import RunOptions, gather, make_trainer

        name = text.splitlines()[0].removeprefix(TRAINER_MARK)
        settings, _ = gather(RunOptions(files=(file,)))
        model = Path(str(settings.values.get("model_name", "")))
        if model.name.startswith("outputs-"):  # what an earlier command of the page trains
            (file.parent / model.name).mkdir()
            settings.values["model_name"] = str(file.parent / model.name)
        make_trainer(registry.trainers[name], settings)
    elif "compute_environment" in text:
        from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file

        config = load_config_from_file(str(file))
        assert isinstance(config, ClusterConfig)
        assert config.num_processes > 1
    else:
        from trl.trainer.grpo_config import GRPOConfig

        from lean_dojo_plugins.training.settings import check_trainer_args

        check_trainer_args(GRPOConfig, yaml.safe_load(text), {})


def test_a_yaml_block_is_read(yaml_block: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    read_as_what_it_is(yaml_block.code, tmp_path / "block.yaml")


@pytest.mark.parametrize("path", sorted(CONFIGS.iterdir()), ids=lambda path: path.name)
def test_a_config_file_is_read(path: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text("utf-8")
    read_as_what_it_is(text, tmp_path / path.name)


def test_pages_show_the_config_files_as_they_are(all_blocks: list[Any]) -> None:
    shown = [block for block in all_blocks if block.title.startswith("configs/")]
    assert shown
    for block in shown:
        file = CONFIGS.parent / block.title
        assert yaml.safe_load(block.code) == yaml.safe_load(file.read_text("utf-8")), block


def test_the_tests_that_a_page_names_exist() -> None:
    tests = CONFIGS.parents[1] / "tests"
    page = (CONFIGS.parent / "scale.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+)(?:\[\w+\])?)?`", page)
    assert len(named) > 15
    for file, test in named:
        if file.startswith(("plugins/", "lean_dojo_v2/")):
            assert f"def {test}" in (tests / file).read_text("utf-8"), (file, test)


def test_a_json_block_is_read(json_block: Any, tmp_path: Path) -> None:
    if json_block.code.startswith("{\n"):  # one object over several lines
        assert json.loads(json_block.code)
        return
    rows = [json.loads(line) for line in json_block.code.splitlines()]
    if json_block.page == "trainers/progress.md":
        from lean_dojo_plugins.progress.dataset import ProgressDataset

        file = tmp_path / "examples.jsonl"
        file.write_text(json_block.code, encoding="utf-8")
        assert len(ProgressDataset(file).examples) == len(rows)
    else:
        assert all("completion" in row for row in rows)


def test_a_toml_block_names_our_entry_points(toml_block: Any) -> None:
    project = tomllib.loads(toml_block.code)["project"]
    assert list(project["entry-points"]) in (["lean_dojo"], ["lean_dojo.kinds", "lean_dojo"])
