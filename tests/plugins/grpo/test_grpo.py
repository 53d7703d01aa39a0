"""GRPO: groups that fit, completions that end with their line, rewards that see text, resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from lean_dojo_core.errors import ConfigError, UnknownNameError
from lean_dojo_plugins.causal_lm.trainer import CausalBase
from lean_dojo_plugins.grpo.groups import plan_groups
from lean_dojo_plugins.grpo.trainer import TACTIC_TOKENS, GRPOTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import RewardError
from lean_dojo_v2.trainer.grpo_trainer import GRPODataset, GRPOTrainer as Documented


@pytest.mark.parametrize("batch_size", range(1, 13))
@pytest.mark.parametrize("processes", [1, 2, 8])
def test_every_batch_size_makes_whole_groups(batch_size, processes):
    plan = plan_groups(batch_size, processes, {})
    total = batch_size * processes * plan.accumulation
    assert plan.num_generations == 8
    assert total % 8 == 0
    assert plan.prompts_per_step == total // 8
    assert all((batch_size * processes * fewer) % 8 for fewer in range(1, plan.accumulation)), (
        "as few passes as possible"
    )


@pytest.mark.parametrize(
    ("batch_size", "args", "group", "accumulation"),
    [
        (4, {"num_generations": 4}, 4, 1),
        (1, {"num_generations": 3}, 3, 3),
        (2, {"gradient_accumulation_steps": 2}, 4, 2),
        (1, {"gradient_accumulation_steps": 6}, 6, 6),
        (1, {"gradient_accumulation_steps": 11}, 11, 11),
        (8, {"gradient_accumulation_steps": 4, "num_generations": 16}, 16, 4),
        (2, {"generation_batch_size": 8}, 8, 4),
        (2, {"steps_per_generation": 4, "gradient_accumulation_steps": 2}, 8, 2),
    ],
)
def test_what_the_user_sets_stays(batch_size, args, group, accumulation):
    plan = plan_groups(batch_size, 1, args)
    assert (plan.num_generations, plan.accumulation) == (group, accumulation)


@pytest.mark.parametrize(
    ("batch_size", "args", "complaint"),
    [
        (1, {"num_generations": 1}, "at least 2"),
        (3, {"num_generations": 8, "gradient_accumulation_steps": 2}, "multiple of 8"),
        (1, {"gradient_accumulation_steps": 1}, "not whole groups"),
        (3, {"generation_batch_size": 8}, "not a multiple of the 3"),
        (1, {"generation_batch_size": 8, "steps_per_generation": 8}, "only one of"),
    ],
)
def test_what_cannot_fit_is_refused_with_a_way_out(batch_size, args, complaint):
    with pytest.raises(ConfigError, match=complaint):
        plan_groups(batch_size, 1, args)


def test_documented_positions_defaults_and_paths():
    def reward_func(completions, **kwargs):
        return torch.tensor([1.0] * len(completions))

    trainer = GRPOTrainer("owner/model", reward_func)
    assert Documented is GRPOTrainer
    assert isinstance(trainer, CausalBase)
    assert (trainer.output_dir, trainer.epochs_per_repo, trainer.batch_size, trainer.lr) == (
        "outputs", 1, 1, 2e-5,
    )  # fmt: skip
    assert trainer.lora_config is None
    positional = GRPOTrainer("owner/model", reward_func, "out", 2, 4, 1e-4, None)
    assert (positional.output_dir, positional.lr) == ("out", 1e-4)


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"reward_func": "constent"}, UnknownNameError, "constant"),
        ({"trainer_args": {"reward_weights": [1.0]}}, ConfigError, "reward_func="),
        ({"trainer_args": {"betta": 0.1}}, ConfigError, "Did you mean 'beta'"),
        ({"formatter": "progress-text"}, ConfigError, "no column prompt"),
    ],
)
def test_bad_settings_are_refused_at_once(options, error, complaint):
    with pytest.raises(error, match=complaint):
        GRPOTrainer("owner/model", **{"reward_func": "constant", **options})


def test_the_dataset_has_problem_prompt_and_the_replay(tmp_path, traced):
    database = DynamicDatabase(traced)
    database.export_merged_data(database.repositories, tmp_path)
    dataset = GRPODataset(tmp_path / "random" / "train.json").to_hf()
    row = dataset[0]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["prompt"][1]["content"] == row["problem"]
    assert not any("sorry" in tactic for tactic in dataset["tactic"])
    assert {"file_path", "full_name", "start", "end", "position", "url"} <= set(
        dataset.column_names
    )


@pytest.fixture
def train(tmp_path, traced, tiny_model):
    def run(reward, repositories=1, **options):
        database = DynamicDatabase(traced)
        repos = [r for r in database.repositories if "empty" not in r.url][:repositories]
        short = {"max_steps": 2, "logging_steps": 1, "max_completion_length": 8}
        settings = {**short, **options.pop("trainer_args", {})}
        trainer = GRPOTrainer(
            str(tiny_model), reward, str(tmp_path / "out"), trainer_args=settings,
            device="cpu", **options,
        )  # fmt: skip
        trainer.train(repos, database, tmp_path / "data")
        return trainer

    return run


def metrics(folder: str | Path) -> list[dict]:
    lines = (Path(folder) / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_documented_example_runs_with_batch_size_1(train, capsys):
    seen = []

    def reward_func(completions, **kwargs):
        seen.append((completions, kwargs))
        return torch.tensor([1.0] * len(completions))

    trainer = train(reward_func, trainer_args={"max_completion_length": TACTIC_TOKENS})
    completions, columns = seen[0]
    assert len(completions) == 8
    assert all(isinstance(text, str) for text in completions)
    assert len(set(columns["problem"])) == 1, "one group is of one prompt"
    assert len(columns["full_name"]) == 8
    assert "groups of 8 completions" in capsys.readouterr().err
    out = Path(trainer.output_dir)
    AutoModelForCausalLM.from_pretrained(out)
    AutoTokenizer.from_pretrained(out)
    assert (out / "rewards.svg").read_text().count("<path") > 3
    row = metrics(out)[0]
    assert row["rewards/reward_func/mean"] == 1.0
    assert row["time/generation"] > 0
    assert row["time/reward"] >= 0


def test_a_constant_reward_teaches_nothing(train, tiny_model):
    trainer = train("constant")
    before = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    after = AutoModelForCausalLM.from_pretrained(trainer.output_dir).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("share", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_an_entropy_bonus_moves_the_weights(share, train, tiny_model):
    trainer = train("constant", share_prompts=share, trainer_args={"entropy_coef": 0.1})
    before = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    after = AutoModelForCausalLM.from_pretrained(trainer.output_dir).state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_telling_reward_changes_the_weights(train, tiny_model):
    whole = {"max_completion_length": TACTIC_TOKENS}
    trainer = train({"length-penalised": 1.0, "constant": 0.1}, lr=1e-3, trainer_args=whole)
    before = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    after = AutoModelForCausalLM.from_pretrained(trainer.output_dir).state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    row = metrics(trainer.output_dir)[0]
    expected = row["rewards/length-penalised/mean"] + 0.1 * row["rewards/constant/mean"]
    assert row["reward"] == pytest.approx(expected, abs=1e-5)


def test_completions_end_with_their_line(train, tiny_model):
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    [newline] = tokenizer("\n", add_special_tokens=False)["input_ids"]
    ended_by_newline = []

    def reward(completions, completion_ids, **kwargs):
        for text, ids in zip(completions, completion_ids, strict=True):
            assert newline not in ids[:-1], "nothing follows the end of the line"
            assert len(ids) <= TACTIC_TOKENS
            ended_by_newline.append(text.endswith("\n"))
        return [0.0] * len(completions)

    # A hotter policy says each of 500 tokens about equally often, the newline among them.
    hot = {"max_steps": 3, "temperature": 5.0, "max_completion_length": TACTIC_TOKENS}
    train(reward, trainer_args=hot)
    assert any(ended_by_newline)


@pytest.mark.slow
def test_lora_saves_the_adapter_only(train):
    config = LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"])
    trainer = train("length-penalised", lora_config=config, batch_size=4)
    out = Path(trainer.output_dir)
    assert (out / "adapter_model.safetensors").exists()
    assert not (out / "model.safetensors").exists()


def adapter_of(tiny_model, folder: Path, strength: float) -> Path:
    """An adapter that changes the model, as SFT with LoRA leaves it."""
    torch.manual_seed(0)
    config = LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"])
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(tiny_model), config)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            weight.data.normal_(std=strength)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(folder)
    return folder


KL = {"beta": 0.1, "max_steps": 2, "num_generations": 2, "max_completion_length": 8}


@pytest.mark.slow
@pytest.mark.parametrize("lora", [True, False])
@pytest.mark.parametrize("start", ["model", "adapter"])
def test_the_kl_is_to_the_start_of_the_run_at_every_repository(
    tmp_path, traced, tiny_model, lora, start
):
    """Nothing moves at a learning rate of 1e-9, so the KL is 0 to the right reference only."""
    name = tiny_model if start == "model" else adapter_of(tiny_model, tmp_path / "start", 0.3)
    config = LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"])
    database = DynamicDatabase(traced)
    repos = [r for r in database.repositories if "empty" not in r.url][:2]

    def reward(completions, completion_ids, **kwargs):
        return [float(ids[0] % 7) for ids in completion_ids]

    def trained(lr: float, repositories: int) -> list[dict]:
        trainer = GRPOTrainer(
            str(name), reward, str(tmp_path / f"out-{lr}"), batch_size=2, lr=lr,
            lora_config=config if lora else None, device="cpu", trainer_args=KL,
        )  # fmt: skip
        trainer.train(repos[:repositories], database, tmp_path / "data")
        return [row for row in metrics(tmp_path / f"out-{lr}") if "kl" in row]

    still = trained(1e-9, 2)
    assert len(still) == 4
    assert all(abs(row["kl"]) < 1e-4 for row in still), "the reference is another model"
    # A run that is gone on with in another process measures to the start, not to where it got.
    lr = 0.3 if lora else 3e-2
    trained(lr, 1)
    gone_on = trained(lr, 2)
    assert gone_on[2]["kl"] > 1e-3


def test_a_completion_that_does_not_end_scores_as_empty_text(train):
    seen = []

    def reward(completions, **kwargs):
        seen.extend(completions)
        return [float(len(text)) for text in completions]

    train(
        reward, batch_size=4, trainer_args={"max_completion_length": 2, "num_generations": 4}
    )  # an untrained model does not end within two tokens
    assert len(seen) == 8
    assert seen.count("") >= 6


def test_a_broken_reward_is_named(train):
    def broken(completions, **kwargs):
        return [1.0]

    with pytest.raises(RewardError, match="reward 'broken' returned 1 rewards for 8"):
        train(broken)


def test_a_reward_written_for_bare_trl_works(train):
    def format_reward(prompts, completions, completion_ids, **kwargs):
        return [0.5 if len(ids) else None for ids in completion_ids]

    row = metrics(train(format_reward).output_dir)[0]
    assert row["rewards/format_reward/mean"] == 0.5


def test_a_reward_that_applies_to_nothing_ends_the_run(train):
    def never(completions, **kwargs):
        return [None] * len(completions)

    with pytest.raises(RewardError, match="'never' applied to none of the first 16 completions"):
        train(["constant", never])


def test_a_reward_that_misses_more_than_half_is_warned_of(train, caplog):
    def seldom(completions, **kwargs):
        return [1.0] + [None] * (len(completions) - 1)

    row = metrics(train(["constant", seldom]).output_dir)[0]
    assert row["rewards/constant/applied"] == 1.0
    assert row["rewards/seldom/applied"] == 1 / 8
    assert "'seldom' did not apply to 14 of the first 16 completions" in caplog.text


def test_ours_work_in_bare_trl(tiny_model, tmp_path):
    from datasets import Dataset
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer as Bare

    from lean_dojo_core import registry

    rewards = [registry.reward_functions[n].create() for n in ("constant", "length-penalised")]
    for reward, name in zip(rewards, ("constant", "length_penalised"), strict=True):
        object.__setattr__(reward, "__name__", name) if hasattr(reward, "__dict__") else None
    rows = [{"prompt": [{"role": "user", "content": f"⊢ {n} = {n}"}]} for n in range(4)]
    trainer = Bare(
        model=AutoModelForCausalLM.from_pretrained(tiny_model),
        reward_funcs=rewards,
        args=GRPOConfig(
            output_dir=str(tmp_path), use_cpu=True, bf16=False, max_steps=1, num_generations=2,
            per_device_train_batch_size=2, max_completion_length=8, report_to="none",
            logging_steps=1, disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(tiny_model),
    )  # fmt: skip
    trainer.train()
    logged = trainer.state.log_history[0]
    assert any(key.endswith("/mean") and logged[key] == 1.0 for key in logged)
