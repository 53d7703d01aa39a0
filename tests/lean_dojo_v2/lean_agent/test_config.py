"""The configuration of retriever training: documented defaults, strict files, no torch."""

import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.files import checkpoint_dir, merged_data_dir, raid_dir
from lean_dojo_v2.lean_agent.config import ProverConfig, TrainingConfig

DOCUMENTED = {
    "run_progressive_training": True,
    "single_repo": True,
    "num_repos": 1,
    "max_epochs": 1,
    "model_name": "kaiyuy/leandojo-lean4-retriever-byt5-small",
    "lr": 1e-3,
    "warmup_steps": 1000,
    "max_seq_len": 512,
    "num_retrieved": 100,
    "batch_size": 4,
    "eval_batch_size": 64,
    "accumulate_grad_batches": 4,
    "num_gpus": 1,
    "num_workers": 4,
    "precision": "bf16-mixed",
    "gradient_clip_val": 1.0,
    "num_negatives": 3,
    "num_in_file_negatives": 1,
    "data_max_seq_len": 1024,
    "tokenizer_model_name": "google/byt5-small",
    "lambda_value": 0.1,
    "timeout_seconds": 31449600,
    "early_stopping_patience": 5,
    "early_stopping_monitor": "Recall@10_val",
    "early_stopping_mode": "max",
    "checkpoint_monitor": "Recall@10_val",
    "checkpoint_mode": "max",
    "checkpoint_save_top_k": -1,
    "checkpoint_every_n_epochs": 1,
    "log_every_n_steps": 1,
    "num_sanity_val_steps": 0,
    "seed": 3407,
}


def test_every_documented_field_has_its_documented_default():
    config = TrainingConfig()
    assert {name: getattr(config, name) for name in DOCUMENTED} == DOCUMENTED


def test_documented_fields_come_first_and_the_rest_is_keyword_only():
    positional = [field.name for field in attrs.fields(TrainingConfig) if not field.kw_only]
    assert positional == list(DOCUMENTED)
    assert all(field.metadata["help"] for field in attrs.fields(TrainingConfig))


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_round_trip(tmp_path, suffix):
    config = TrainingConfig(
        max_epochs=3, lr=5e-4, lambda_value=0.05, num_gpus=2, checkpoint_dir=tmp_path / "c"
    )
    file = tmp_path / "folder" / f"retrieval.{suffix}"
    getattr(config, f"to_{suffix}")(file)
    assert getattr(TrainingConfig, f"from_{suffix}")(file) == config


def test_yaml_number_without_a_dot_and_empty_file(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("lr: 1e-3\ngradient_clip_val: 1\n")
    assert TrainingConfig.from_yaml(file).lr == 1e-3
    file.write_text("")
    assert TrainingConfig.from_yaml(str(file)) == TrainingConfig()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_epoch: 3", ["c.yaml, line 1", "max_epoch", "Did you mean 'max_epochs'"]),
        ("single_repo: 'yes'", ["single_repo", "yes"]),
        ("batch_size: 0", ["batch_size", "at least 1"]),
        ("early_stopping_mode: up", ["early_stopping_mode", "max, min"]),
    ],
)
def test_mistakes_in_a_file_name_the_file_and_the_key(tmp_path, text, words):
    file = tmp_path / "c.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        TrainingConfig.from_yaml(file)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "fp8"}, "precision must be one of transformer-engine, "),
        (
            {"early_stopping_monitor": "loss"},
            "early_stopping_monitor must be one of Recall@10_val, ",
        ),
        ({"checkpoint_monitor": "val_loss"}, "checkpoint_monitor must be one of Recall@10_val, "),
        ({"lr": "1e-3"}, "lr must be a number"),
        ({"lr": float("nan")}, "lr must be a number of at least 0, not nan"),
        ({"max_epochs": 1.5}, "max_epochs must be a whole number"),
        ({"single_repo": "yes"}, "single_repo must be true or false"),
        ({"model_name": 3}, "model_name must be a text"),
        ({"fisher_examples": 0}, "fisher_examples must be a whole number of at least 1"),
    ],
)
def test_mistakes_are_refused_when_it_is_made(options, message):
    with pytest.raises(ConfigError) as caught:
        TrainingConfig(**options)
    assert message in str(caught.value)
    [(name, value)] = options.items()
    config = TrainingConfig()
    with pytest.raises(ConfigError):
        setattr(config, name, value)


def test_what_lightning_takes_as_a_number_is_taken():
    assert TrainingConfig(precision=32).precision == "32"
    assert TrainingConfig(lr=1, checkpoint_dir="here").get_checkpoint_dir() == Path("here")


@pytest.mark.parametrize("kind", [TrainingConfig, ProverConfig])
def test_a_changed_copy_is_checked_and_every_field_has_a_help(kind):
    changed = attrs.evolve(kind(batch_size=7), seed=9)
    assert (changed.seed, changed.batch_size) == (9, 7)
    assert all(field.metadata["help"] for field in attrs.fields(kind))
    with pytest.raises(ConfigError, match="batch_size"):
        attrs.evolve(changed, batch_size=0)


def test_lambda_is_off_without_progressive_training():
    assert TrainingConfig().get_lambda_value() == 0.1
    assert TrainingConfig(run_progressive_training=False).get_lambda_value() == 0.0
    assert TrainingConfig(lambda_value=0.0).get_lambda_value() == 0.0


def test_prover_defaults():
    assert attrs.asdict(ProverConfig()) == {
        "use_vllm": False,
        "num_workers": 4,
        "timeout": 600,
        "max_expansions": None,
        "num_sampled_tactics": 64,
        "debug": False,
        "batch_size": 12,
        "visits": 1,
        "revisit_cost": None,
        "lean_calls": None,
        "heartbeats": 20_000,
        "length_exponent": 0.0,
        "progress_weight": 0.5,
        "temperature": None,
        "seed": 0,
        "tactic_seconds": 60.0,
    }


def test_folders_follow_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("RAID_DIR", raising=False)
    assert str(raid_dir()) == "raid"
    monkeypatch.setenv("RAID_DIR", str(tmp_path))
    assert tmp_path / "data" / "merged" == merged_data_dir()
    assert tmp_path / "checkpoints" == checkpoint_dir()
    assert TrainingConfig().get_checkpoint_dir() == tmp_path / "checkpoints"


@pytest.mark.parametrize("name", ["owner/repo", "a/../..", "x" * 3 + "/y z:*?", "/abs/olute"])
def test_a_repository_name_makes_one_folder(name, tmp_path):
    folder = TrainingConfig(log_dir=tmp_path).get_custom_log_dir(name)
    assert folder.parent == tmp_path
    assert folder.name not in {"", ".", ".."}


def test_importing_the_configuration_imports_no_torch():
    code = (
        "import sys, lean_dojo_v2.lean_agent.config, lean_dojo_v2.files.paths;"
        "print([m for m in ('torch', 'pytorch_lightning', 'transformers') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
