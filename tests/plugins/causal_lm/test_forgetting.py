"""What a model forgets over a curriculum: measured, drawn, and without effect on the training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import look_at
from safetensors.torch import load_file

from lean_dojo_core.errors import ConfigError, DataError
from lean_dojo_plugins.causal_lm.evaluation import mean_loss
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.services.report.page import write_report
from lean_dojo_plugins.training.forgetting import held_out_rows
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.runs.forgetting import Forgetting
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer

pytestmark = pytest.mark.slow  # two runs over three repositories

URL = "https://example.org/lean/"
COMMIT = "c" * 40


@pytest.fixture(scope="module")
def trained(traced, tiny_model, tmp_path_factory) -> tuple[Path, Path, SFTTrainer]:
    """A run that looks back, one that does not, and the trainer of the first."""
    folder = tmp_path_factory.mktemp("look-back")
    (folder / "database.json").write_bytes(traced.read_bytes())
    with DynamicDatabase(folder / "database.json") as database:
        repos = [database.get_repository(URL + name, COMMIT) for name in ("empty", "one", "two")]
        for name, tactics in (("without", 0), ("with", 5)):
            trainer = SFTTrainer(
                str(tiny_model), folder / name, batch_size=4, lr=3e-3, look_back=tactics
            )
            trainer.train(repos, database, folder / "merged")
    return folder / "with", folder / "without", trainer


def test_each_step_measures_every_repository_so_far(trained):
    output, _, trainer = trained
    matrix = Forgetting.load(output / "forgetting.json")
    empty, one, two = (f"lean_{name}@ccccccc" for name in ("empty", "one", "two"))
    assert [step["after"] for step in matrix.steps] == [one, two]
    assert [list(step["values"]) for step in matrix.steps] == [[empty, one], [empty, one, two]]
    assert matrix.steps[1]["values"][empty] is None, "it has nothing to measure"
    rows = held_out_rows(output.parent / "merged", TacticChat(), [(URL + "one", COMMIT)], limit=5)
    [held_out] = rows.values()
    assert 0 < len(held_out) <= 5
    assert matrix.steps[1]["values"][one] == pytest.approx(
        mean_loss(trainer.model, trainer.tokenizer, held_out), rel=1e-4
    )
    assert matrix.steps[1]["values"][one] < matrix.steps[0]["values"][one], "it goes on learning"
    assert matrix.forgotten() < 0
    assert (output / "forgetting.svg").read_text().startswith("<?xml")


def test_looking_back_changes_nothing_of_the_training(trained):
    output, without, _ = trained
    assert not (without / "forgetting.json").exists()
    first, second = (load_file(folder / "model.safetensors") for folder in (output, without))
    assert all((first[name] == second[name]).all() for name in second)


def test_a_finished_run_may_look_back_later_and_one_begun_anew_forgets_the_matrix(
    trained, traced, tmp_path
):
    output, _, trainer = trained
    again = SFTTrainer(trainer.model_name, output, batch_size=4, lr=3e-3, look_back=7)
    assert len(again.run_state().finished) == 3, "the same run, whatever look_back is"
    with pytest.raises(ConfigError, match="look_back must be a whole number"):
        SFTTrainer(trainer.model_name, tmp_path, look_back=-1)


def test_the_page_of_a_plain_run_shows_it_in_a_browser(trained, browser):
    output, *_ = trained
    seen = look_at(browser, write_report(output), width=400)
    assert seen.headings == [
        "with", "Data", "Curriculum", "Training curves", "Forgetting", "Environment",
    ]  # fmt: skip
    assert seen.problems == seen.empty == seen.dead_links == []
    assert seen.overflow <= 0
    page = (output / "report.html").read_text()
    assert json.loads((output / "environment.json").read_text())["trl"] in page
    assert "29 theorems" in page


def test_a_broken_matrix_is_said_before_the_training(traced, tiny_model, tmp_path):
    (tmp_path / "database.json").write_bytes(traced.read_bytes())
    output = tmp_path / "out"
    with DynamicDatabase(tmp_path / "database.json") as database:
        repos = [database.get_repository(URL + name, COMMIT) for name in ("one", "two")]

        def train(count: int) -> None:
            trainer = SFTTrainer(str(tiny_model), output, batch_size=4, look_back=5)
            trainer.train(repos[:count], database, tmp_path / "merged")

        train(1)
        (output / "forgetting.json").write_text("{")
        steps = (output / "metrics.jsonl").read_bytes()
        with pytest.raises(DataError, match=r"forgetting\.json"):
            train(2)
        assert (output / "metrics.jsonl").read_bytes() == steps
        anew = SFTTrainer(str(tiny_model), output, batch_size=2, look_back=5, resume=False)
        anew.train(repos[:1], database, tmp_path / "merged")  # neither it nor the settings matter
    assert len(anew.run_state().finished) == 1
