"""What is refused when a trainer is made or told to train, and in which words."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from lightning_fabric import connector

from lean_dojo_core.errors import ConfigError, LeanDojoError, UsageError
from lean_dojo_plugins.expert_iteration.trainer import ExpertIterationTrainer
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.training.settings import check_gathering
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean_agent import config as settings
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.trainer.grpo_trainer import GRPOTrainer
from lean_dojo_v2.trainer.progress_trainer import ProgressTrainer
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", [{"lr": 1}, "config.yaml", 3])
def test_retrieval_wants_a_configuration(given):
    with pytest.raises(ConfigError, match=r"config must be a TrainingConfig, not .*from_yaml"):
        RetrievalTrainer(given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SFTTrainer("nosuch"),
        lambda: GRPOTrainer("nosuch", "constant"),
        lambda: ExpertIterationTrainer("nosuch"),
        lambda: ProgressTrainer(model_name="nosuch"),
        lambda: RetrievalTrainer(TrainingConfig(model_name="nosuch")),
    ],
)
def test_a_model_that_is_not_there_is_refused(make, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match="model_name: 'nosuch' is neither a folder here nor a"):
        make()


def test_a_hub_id_and_the_defaults_are_not_asked_for_when_it_is_made():
    assert SFTTrainer("deepseek-ai/DeepSeek-Prover-V2-7B").batch_size == 1
    assert ProgressTrainer().model_name == "bert-base-uncased"
    assert RetrievalTrainer().config == TrainingConfig()


def test_a_finished_run_needs_its_start_no_more(tmp_path, traced, tiny_model):
    start = Path("start")
    start.symlink_to(tiny_model)
    database = DynamicDatabase(traced)
    options = {"device": "cpu", "trainer_args": {"max_steps": 1}}
    SFTTrainer("start", "out", **options).train(database.repositories[:1], database, "data")
    start.unlink()
    again = SFTTrainer("start", "out", **options)
    assert again.prover_settings()["ckpt_path"] == "out"


@pytest.mark.parametrize("trainer", ["sft", "grpo", "retrieval", "progress", "expert-iteration"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("single", r"takes a list of repositories, .*, not <repository "),
        ("text", "takes a list of repositories, such as database.repositories, not 'owner/name'"),
        ("texts", r"takes a list of repositories, .*, not \['owner/name'\]"),
        ("database", "takes a database, such as .*, not 'dynamic_database.json'"),
    ],
)
def test_train_says_what_it_takes(trainer, wrong, message, traced, tiny_model, encoder):
    made = {
        "sft": lambda: SFTTrainer(tiny_model),
        "grpo": lambda: GRPOTrainer(tiny_model, "constant"),
        "retrieval": RetrievalTrainer,
        "progress": lambda: ProgressTrainer(model_name=encoder),
        "expert-iteration": lambda: ExpertIterationTrainer(tiny_model),
    }[trainer]()
    database = DynamicDatabase(traced)
    repos = database.repositories
    given = {"single": repos[0], "text": "owner/name", "texts": ["owner/name"], "database": repos}
    where = "dynamic_database.json" if wrong == "database" else database
    with pytest.raises(UsageError, match=message):
        made.train(given[wrong], where, Path("data"))


def test_a_wrong_key_of_lora_is_named_with_the_right_one(tiny_model):
    with pytest.raises(ConfigError) as caught:
        SFTTrainer(tiny_model, lora_config={"rank": 3})
    assert str(caught.value) == "lora_config has no setting 'rank'. Did you mean 'r'?"
    with pytest.raises(ConfigError, match=r"^lora_config\.r: expected a valid integer, got 'x'"):
        GRPOTrainer(tiny_model, "constant", lora_config={"r": "x"})
    kept = SFTTrainer(tiny_model, lora_config={"r": 3, "target_modules": {"q_proj"}}).lora_config
    assert (kept.r, kept.target_modules) == (3, {"q_proj"})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"data_path": "nosuch.jsonl"}, UsageError, "data_path: nosuch.jsonl is no file"),
        ({"data_path": "."}, UsageError, "data_path: . is no file"),
        ({"data_path": "empty.jsonl"}, EmptyDatasetError, "the file has no examples"),
        ({"data_path": "bad.jsonl"}, LeanDojoError, "bad.jsonl, line 1: .*goal"),
    ],
)
def test_progress_looks_for_its_data_first(options, error, message, encoder):
    Path("empty.jsonl").write_text("\n")
    Path("bad.jsonl").write_text('{"tactic": "rfl"}\n')
    with pytest.raises(error, match=message):
        ProgressTrainer(model_name=encoder, **options).preflight()


def test_the_configuration_knows_what_lightning_takes_and_what_is_logged():
    numbers = {"16", "32", "64"}
    known = get_args(connector._PRECISION_INPUT_STR) + get_args(
        connector._PRECISION_INPUT_STR_ALIAS
    )
    assert set(settings.PRECISIONS) == {*known} | numbers

    logged = inspect.getsource(PremiseRetriever)
    assert all(f'self.log("{name}"' in logged for name in settings.MONITORS)


def test_weights_in_parts_that_would_not_be_saved_are_refused():
    def trainer(**zero: Any) -> Any:
        plugin = SimpleNamespace(deepspeed_config={"zero_optimization": zero})
        state = SimpleNamespace(deepspeed_plugin=plugin)
        return SimpleNamespace(is_deepspeed_enabled=True, accelerator=SimpleNamespace(state=state))

    check_gathering(trainer(stage=2))
    check_gathering(trainer(stage=3, stage3_gather_16bit_weights_on_model_save=True))
    with pytest.raises(ConfigError, match="zero3_save_16bit_model"):
        check_gathering(trainer(stage=3))
