"""`--dry-run` and each start look first: what will be missing is said before data is prepared."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import Repository
from lean_dojo_v2.sample import sample_database_path

DryRun = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    return build_tiny_model(
        ["⊢ p ∧ q", "exact h.1"] * 8, folder, hidden_size=16, layers=1, vocab_size=300
    )


@pytest.fixture
def dry_run(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DryRun:
    """Type `train NAME … --dry-run` in an empty folder; give code and message."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *words: str) -> tuple[int, str]:
        errors = io.StringIO()
        given = ["--set", f"model_name={model}"] if name in {"sft", "grpo", "progress"} else []
        database = ["--database", str(sample_database_path())]
        with redirect_stderr(errors), redirect_stdout(io.StringIO()):
            code = main(["train", name, *given, *database, *words, "--dry-run"])
        return code, errors.getvalue()

    return run


GRPO = ("grpo", "--set", "batch_size=2")
TRL = '{"trl:get_soft_overlong_punishment": {max_completion_len: 96, soft_punish_cache: 20}}'
GOOD = {
    "sft": ("sft",),
    "grpo": (*GRPO, "--reward", "constant"),
    "a factory with options": (*GRPO, "--set", f"reward_func={TRL}"),
    "a factory without": (*GRPO, "--reward", "trl:get_repetition_penalty_reward:0.1"),
    "progress": ("progress",),
    "another optimiser": ("sft", "--set", "trainer_args.optim=sgd"),
    "a plugin's callback": (*GRPO, "--reward", "constant", "--set", "callbacks=best-tactics"),
    "no logger": ("sft", "--set", "report_to=none"),
}
BAD = {
    "no reward": (GRPO, ["needs a reward", "--reward NAME", "pantograph-verified"]),
    "a batch larger than the data": (
        ("grpo", "--reward", "constant", "--set", "batch_size=100000"),
        ["batch_size: a batch takes completions of 12500 prompts, and the data have", "lower"],
    ),
    "a column": ((*GRPO, "--reward", "trl:accuracy_reward"), ["'solution'", "tactic-prompt"]),
    "a factory": (
        (*GRPO, "--reward", "trl:get_soft_overlong_punishment"), ["without options", "{OPTION:"],
    ),
    "a reward that is not there": ((*GRPO, "--reward", "trl:no_such"), ["trl:no_such"]),
    "optimiser": (("sft", "--set", "trainer_args.optim=adamm"), ["adamm"]),
    "its library": (("sft", "--set", "trainer_args.optim=adamw_8bit"), ["optim", "bitsandbytes"]),
    "no such logger": (("sft", "--set", "report_to=wanddb"), ["no logger 'wanddb'", "wandb"]),
    "logger": (("sft", "--set", "report_to=comet_ml"), ["'comet_ml' is not installed", "pip"]),
    "extra": (("sft", "--set", "report_to=trackio"), ['pip install "lean-dojo-v2[trackio]>=2"']),
    "progress has one": (("progress", "--set", "report_to=wandb"), ["'tensorboard' or 'none'"]),
    "a callback": (
        ("sft", "--set", "callbacks=best-tactic"),
        ["no callback is called 'best-tactic'. Did you mean 'best-tactics'?", "module:attribute"],
    ),
    "folder": (("sft", "--set", "output_dir=/proc/out"), ["output_dir: /proc/out cannot be"]),
    "data": (("sft", "--data-path", "/proc/data"), ["--data-path: /proc/data cannot be"]),
    "checkpoints": (("retrieval", "--set", "config.model_name=no/such"), ["neither a folder"]),
    "model": (("sft", "--set", "model_name=nobody/nothing"), ["neither a folder", "hub"]),
    "progress's": (("progress", "--set", "model_name=nobody/nothing"), ["neither a folder"]),
}  # fmt: skip


@pytest.mark.parametrize("words", GOOD.values(), ids=GOOD)
def test_what_would_train_passes_and_leaves_nothing(
    dry_run: DryRun, words: tuple[str, ...], tmp_path: Path
) -> None:
    assert dry_run(*words) == (0, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "said"), BAD.values(), ids=BAD)
def test_what_would_fail_is_said_at_once(
    dry_run: DryRun, words: tuple[str, ...], said: list[str], tmp_path: Path
) -> None:
    code, message = dry_run(*words)
    assert code == 2
    assert "Traceback" not in message
    for part in said:
        assert part in message
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_of_the_folder(dry_run: DryRun, tmp_path: Path) -> None:
    Path("out").write_text("")
    code, message = dry_run("sft", "--set", "output_dir=out/inner")
    assert (code, "is a file" in message) == (2, True)


def test_a_folder_without_a_model(dry_run: DryRun) -> None:
    Path("empty").mkdir()
    code, message = dry_run("sft", "--set", "model_name=empty")
    assert (code, "holds no model" in message) == (2, True)


def test_a_name_that_is_nearly_one(dry_run: DryRun, model: Path) -> None:
    code, message = dry_run("sft", "--set", "model_name=shippd")
    assert (code, "Did you mean 'shipped'?" in message) == (2, True)
    shutil.copytree(model, "my-model")
    code, message = dry_run("sft", "--set", "model_name=my-modle")
    assert (code, "Did you mean 'my-model'?" in message) == (2, True)


def test_a_model_without_a_tokenizer(dry_run: DryRun, model: Path) -> None:
    shutil.copytree(model, "bare", ignore=shutil.ignore_patterns("tokenizer*", "special*"))
    code, message = dry_run("sft", "--set", "model_name=bare")
    assert code == 2
    assert "model_name: the folder bare holds a model but no tokenizer" in message
    assert "sentencepiece" not in message


def test_a_folder_with_a_run_of_other_settings(dry_run: DryRun) -> None:
    run = {"version": 1, "trainer": "SFTTrainer", "settings": {"lr": 0.5}, "finished": []}
    checkpoint = Path("out/checkpoints/1-a/checkpoint-5")
    checkpoint.mkdir(parents=True)
    Path("out/training_state.json").write_text(json.dumps(run))
    code, message = dry_run("sft", "--set", "output_dir=out")
    assert (code, "lr was 0.5 and is " in message) == (2, True)
    assert dry_run("sft", "--set", "output_dir=out", "--no-resume")[0] == 0
    assert checkpoint.is_dir()


STATED = [{"name": f"t{n}", "formal_statement": f"theorem t{n} : {n} = {n} :="} for n in range(3)]


@pytest.mark.parametrize(("batch", "code"), [(24, 0), (32, 2)])
def test_a_batch_larger_than_the_set(dry_run: DryRun, batch: int, code: int) -> None:
    Path("few.jsonl").write_text("\n".join(map(json.dumps, STATED)))
    words = ("--reward", "constant", "--set", "statements=few.jsonl")
    ended, message = dry_run("grpo", "--set", f"batch_size={batch}", *words)
    assert ended == code
    said = "batch_size: a batch takes completions of 4 prompts, and the data have 3"
    assert (said in message) == bool(code)


def test_python_users_are_told_before_data_is_prepared(model: Path, tmp_path: Path) -> None:
    class Untouched:
        def export_merged_data(self, *_: object) -> None:
            raise AssertionError("data was prepared")

    trainer = SFTTrainer(str(model), str(tmp_path / "out"), report_to="comet_ml")
    with pytest.raises(ConfigError, match="comet_ml"):
        trainer.train([Repository("https://example.org/a", "c")], Untouched(), tmp_path)


@pytest.mark.slow
def test_what_is_in_the_cache_of_the_hub_is_there(
    tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    folder = tmp_path / "hub" / "models--owner--cached"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "config.json").write_text("{}")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    code = "from lean_dojo_plugins.training.hub import require_model; require_model('owner/cached')"
    variables = environment(HF_HOME=str(tmp_path), HF_HUB_OFFLINE="1")
    variables.pop("HF_HUB_CACHE", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=variables)


LORA = {
    "no such module": ("{target_modules: [nosuch]}", "Target modules {'nosuch'} not found"),
    "output layer": ("{target_modules: [q_proj, lm_head]}", "share their weights"),
    "whole output layer": (
        "{target_modules: [q_proj], modules_to_save: [lm_head]}",
        "share their weights",
    ),
    "embeddings": ("{target_modules: [embed_tokens]}", "share their weights"),
    "some tokens": (
        "{target_modules: [q_proj], trainable_token_indices: [1]}",
        "share their weights",
    ),
}


@pytest.mark.parametrize("which", LORA)
def test_an_adapter_that_would_be_lost_is_refused_before_any_data(dry_run: DryRun, which: str):
    lora, said = LORA[which]
    code, message = dry_run("sft", "--set", f"lora_config={lora}", "--set", "model_name=shipped")
    assert code == 2
    assert message.startswith("Error: lora_config: ")
    assert said in message
    assert "Traceback" not in message


def test_an_adapter_that_fits_is_not_refused(dry_run: DryRun):
    lora = "lora_config={target_modules: all-linear}"
    assert dry_run("sft", "--set", lora, "--set", "model_name=shipped") == (0, "")
