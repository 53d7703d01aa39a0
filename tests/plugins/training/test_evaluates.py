"""An agent measures and proves with what any of the trainers trained."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_worlds import FRUIT, repository
from transformers import BertForSequenceClassification

from lean_dojo_core import Evaluation, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState
from lean_dojo_v2 import kinds
from lean_dojo_v2.agent import HFAgent
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.prover import HFProver

EXPECTED = {
    "sft": {"loss", "exact_match"},
    "grpo": {"loss", "exact_match", "reward", "reward/length-penalised"},
    "progress": {"mse", "mae", "within_one"},
    "retrieval": {"random/R@1", "random/R@10", "random/MRR"},
}


@pytest.fixture
def make_trainer(tmp_path, tiny_model, encoder, dataset_file, encoder_folder):
    def make(name):
        output = str(tmp_path / "out")
        if name == "progress":
            shutil.copytree(encoder, output)  # as a training leaves it
            BertForSequenceClassification.from_pretrained(
                encoder, num_labels=1, ignore_mismatched_sizes=True
            ).save_pretrained(output)
            return ProgressTrainer(dataset_file, encoder, output, max_length=32, device="cpu")
        if name == "retrieval":
            config = TrainingConfig(
                model_name=str(encoder_folder), max_seq_len=64, num_workers=0, precision="32-true",
                accelerator="cpu", checkpoint_dir=tmp_path / "out", log_dir=tmp_path / "log",
            )  # fmt: skip
            return registry.trainers["retrieval"].create(config=config)
        options = {"model_name": tiny_model, "output_dir": output}
        if name == "grpo":
            options["reward_func"] = "length-penalised"
            options["trainer_args"] = {"max_completion_length": 4}
        return registry.trainers[name].create(**options)

    return make


@pytest.mark.parametrize("name", list(EXPECTED))
def test_every_trainer_measures_for_an_agent(
    name, make_trainer, tmp_path, monkeypatch, dataset_file
):
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    agent = HFAgent(make_trainer(name), tmp_path / "database.json")
    agent.database.add_repository(repository("alpha", FRUIT, repeats=2))
    agent.database.export_merged_data(agent.database.repositories, agent.data_path)
    if name == "progress":  # what its training on a database leaves beside the splits
        shutil.copy(dataset_file, agent.data_path / "leanprogress.jsonl")
    found = agent.evaluate()
    assert isinstance(found, Evaluation)
    assert {key.removeprefix("merged/") for key in found.metrics} >= EXPECTED[name]
    assert found.examples > 0
    assert found.model


def test_progress_measures_on_the_test_split(make_trainer, tmp_path):
    database = DynamicDatabase(tmp_path / "database.json")
    database.add_repository(repository("alpha", FRUIT, repeats=2))
    database.export_merged_data(database.repositories, tmp_path / "data")
    found = make_trainer("progress").evaluate(tmp_path / "data", "test")
    assert found.split == "test"
    assert found.examples > 0


def test_progress_has_no_error_on_nothing(make_trainer, tmp_path):
    (tmp_path / "data" / "random").mkdir(parents=True)
    (tmp_path / "data" / "random" / "test.json").write_text("[]")
    with pytest.raises(EmptyDatasetError, match="nothing to measure on"):
        make_trainer("progress").evaluate(tmp_path / "data", "test")


class Silent:
    output_dir = "out"

    def train(self, repos, database, data_path): ...


def test_a_trainer_that_cannot_measure_says_so(tmp_path):
    with pytest.raises(UsageError, match="has no method evaluate"):
        HFAgent(Silent(), tmp_path / "database.json").evaluate()


def finished_run(tiny_model: Path, folder: Path, formatter: str) -> Path:
    """The folder of a model that a run with this formatter has finished."""
    shutil.copytree(tiny_model, folder)
    step = FinishedStep("u", "c", 10, 5, "d")
    RunFolder(folder).save(RunState("SFTTrainer", {"formatter": formatter}, [step]))
    return folder


class Loud:
    columns = ("prompt", "completion")

    def rows(self, theorem):
        return iter(())

    def prompt(self, goal, *, premises=()):
        return [{"role": "user", "content": goal.upper()}]


def test_a_model_is_asked_with_the_formatter_of_its_training(tiny_model, tmp_path, caplog):
    with registry.dataset_formatters.override("loud", Loud):
        folder = finished_run(tiny_model, tmp_path / "out", "loud")
        prover = HFProver(folder, device="cpu")
        assert prover.tactics.formatter.prompt("a")[-1]["content"] == "A"
        assert not caplog.records
        other = HFProver(folder, device="cpu", formatter="tactic-chat")
        assert other.tactics.formatter.prompt("a")[-1]["content"] == "a"
        assert (
            "was trained with the formatter 'loud' but is prompted with 'tactic-chat'"
            in caplog.text
        )


def test_formatters_with_the_same_prompt_are_the_same_to_a_model(tiny_model, tmp_path, caplog):
    folder = finished_run(tiny_model, tmp_path / "out", "tactic-prompt")
    HFProver(folder, device="cpu", formatter="tactic-chat")
    assert not caplog.records


def test_an_agent_proves_with_the_prover_that_the_plugin_names(tmp_path):
    class Named:
        def __init__(self, output_dir="out"):
            self.output_dir = output_dir

        def train(self, repos, database, data_path): ...

        def prover_settings(self):
            return {"size": 3}

    agent = HFAgent(Named(), tmp_path / "database.json")
    seen = {}

    class Prover:
        def __init__(self, config=None, **settings):
            seen.update(settings, config=config)

        def search_many(self, problems, servers, *, verbose=False): ...

        def generate_whole_proof(self, theorem): ...

    with kinds.provers.override("hf", Prover):
        agent._setup_prover()
        assert seen == {"size": 3, "config": agent.prover_config}
        with pytest.raises(UsageError, match="no setting for a model"):
            HFAgent(Silent(), tmp_path / "other.json")._setup_prover()
