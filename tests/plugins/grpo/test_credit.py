"""What a token is worth: spans of rewards, and objectives of other people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from lean_dojo_core import Span
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.grpo.credit import token_values
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.rewards.adapter import adapt
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import RewardError, TrainingError
from lean_dojo_v2.runs import metrics

TEXT = "constructor\n· exact ⟨hp, 𝔸⟩\n  rw [foo]"


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return AutoTokenizer.from_pretrained(tiny_model)


def valued(tokenizer, text, spans, *, before=(), **options):
    """The tokens of a completion that have a value, as texts, with it."""
    end = tokenizer.eos_token_id
    own = [*tokenizer(text, add_special_tokens=False)["input_ids"], end]
    ids = torch.tensor([[*before, *own, end, end]])
    mask = torch.tensor([[0] * len(before) + [1] * len(own) + [0, 0]])
    values = token_values(tokenizer, [spans], [text], ids, mask, **options)
    assert values.shape == ids.shape
    assert not values[0, len(before) + len(own) :].any(), "padding is worth nothing"
    found: dict[float, list[int]] = {}
    for token, value in zip(ids[0].tolist(), values[0].tolist(), strict=True):
        if value:
            found.setdefault(value, []).append(token)
    return {value: tokenizer.decode(tokens) for value, tokens in found.items()}


def span(part: str, value: float) -> Span:
    start = TEXT.index(part)
    return Span(start, start + len(part), value)


def test_tokens_get_the_value_of_the_innermost_span(tokenizer):
    spans = [
        span("constructor", 1),
        span("· exact ⟨hp, 𝔸⟩", 2),
        span("⟨hp, 𝔸⟩", 3),
        span("rw [foo]", -1),
    ]
    found = valued(tokenizer, TEXT, spans)
    assert found[1.0] == "constructor"
    assert found[3.0].strip() == "⟨hp, 𝔸⟩"
    assert found[-1.0].strip() == "rw [foo]"
    assert found[2.0].split() == ["·", "exact"]
    told = [7, 8, 9]  # an earlier turn, and what was answered
    assert valued(tokenizer, TEXT, spans, before=told) == found


def test_the_first_token_alone_and_the_end(tokenizer):
    first = valued(
        tokenizer, TEXT, [span("constructor", 1), span("rw [foo]", -1)], first_token=True
    )
    assert "constructor".startswith(first[1.0])
    assert "rw [foo]".startswith(first[-1.0].strip())
    assert valued(tokenizer, TEXT, [Span(len(TEXT), len(TEXT), -2)]) == {-2.0: tokenizer.eos_token}
    assert valued(tokenizer, TEXT, None) == {}


class Spoken:
    """A third-party reward: spans for the first half of each text."""

    def __call__(self, completions: list[str], problem: list[str], **kwargs: Any) -> list[float]:
        return [float(len(text)) for text in completions]

    def spans(self, completions: list[str], problem: list[str], **columns: Any) -> list[list[Span]]:
        return [[Span(0, len(text) // 2, 1.0, "half")] for text in completions]


@pytest.fixture
def train(tmp_path, traced, tiny_model):
    def run(trainer_class=GRPOTrainer, reward: Any = "constant", **options: Any) -> Any:
        database = DynamicDatabase(traced)
        repos = [r for r in database.repositories if "empty" not in r.url][:1]
        settings = {
            "max_steps": 2,
            "logging_steps": 1,
            "max_completion_length": 96,
            "temperature": 5.0,
        }
        trainer = trainer_class(
            str(tiny_model), reward, str(tmp_path / "out"), device="cpu", lr=1e-3,
            trainer_args={**settings, **options.pop("trainer_args", {})}, **options,
        )  # fmt: skip
        trainer.train(repos, database, tmp_path / "data")
        return trainer

    return run


def weights(folder: str | Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(Path(folder) / "model.safetensors")


def moved(trainer: Any, tiny_model: Path) -> bool:
    before, after = weights(tiny_model), weights(trainer.output_dir)
    return any(not torch.equal(before[name], after[name]) for name in after if name in before)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_spans_teach_where_the_reward_alone_does_not(weight, train, tiny_model):
    class Constant(Spoken):
        def __call__(self, completions, problem, **kwargs):
            return [1.0] * len(completions)

    trainer = train(reward=Constant(), process_weight=weight)
    assert moved(trainer, tiny_model) is bool(weight)
    rows = metrics.read_metrics(Path(trainer.output_dir))
    assert ("process/half" in rows[0]) is bool(weight)
    if weight:
        assert rows[0]["process/half"] == rows[0]["process/located"] == 1.0


class PerToken(GRPOTrainer):
    """An objective by somebody else."""

    seen: list[dict[str, Any]]

    def token_advantages(self, **batch: Any) -> torch.Tensor:
        self.seen = [*getattr(self, "seen", []), batch]
        self.log_metric("mine/longest", float(batch["completion_mask"].sum(1).max()))
        return batch["advantages"].unsqueeze(1) * batch["completion_mask"]


def test_an_objective_gets_the_batch_and_logs(train):
    trainer = train(PerToken, reward=["length-penalised", Spoken()])
    batch = trainer.seen[0]
    count, tokens = batch["completion_ids"].shape
    assert len(batch["rows"]) == len(batch["completions"]) == count
    assert batch["rewards"].shape == (count, 2)
    assert batch["advantages"].shape == (count,)
    assert batch["rows"][0]["problem"]
    assert [len(text) for text in batch["completions"]] == batch["rewards"][:, 1].tolist()
    [row, *_] = metrics.read_metrics(Path(trainer.output_dir))
    assert row["mine/longest"] == float(batch["completion_mask"].sum(1).max())
    assert tokens >= row["mine/longest"]


class Wrong(GRPOTrainer):
    def token_advantages(self, **batch: Any) -> torch.Tensor:
        return batch["advantages"][1:]


def test_a_wrong_shape_is_an_error_that_says_which_is_right(train):
    with pytest.raises(TrainingError, match=r"of shape \(7,\); it must be \(8,\) or \(8, "):
        train(Wrong)


def test_all_sum_to_the_plain_objective(train, tiny_model, tmp_path):
    """An advantage for each token that is the completion's own learns what the completion does."""
    train(reward="length-penalised")
    plain = weights(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "plain")
    train(PerToken, reward="length-penalised")
    for name, weight in weights(tmp_path / "out").items():
        assert torch.allclose(plain[name], weight, atol=1e-6), name


@pytest.mark.slow
def test_episodes_ask_for_each_step(tiny_model, tiny_database, tiny_repository, tmp_path):
    database = DynamicDatabase(tiny_database)
    trainer = PerToken(
        tiny_model, Spoken(), tmp_path / "out", batch_size=4, lr=1e-3, device="cpu", engines=1,
        episodes=True, episode_steps=2, replacements=0,
        projects={database.repositories[0].url: tiny_repository[0]},
        trainer_args={"max_steps": 1, "num_generations": 4},
    )  # fmt: skip
    trainer.train(database.repositories, database, tmp_path / "data")
    batch = trainer.seen[0]
    assert len(batch["rows"]) == len(batch["completions"]) == len(batch["advantages"])
    assert all("⊢" in row["problem"] for row in batch["rows"])
    assert batch["rewards"].shape == (len(batch["rows"]), 2)


def test_process_weight_needs_a_reward_that_says_where():
    with pytest.raises(ConfigError, match="process_weight needs a reward that says where"):
        GRPOTrainer("owner/model", "length-penalised", process_weight=1.0)
    with pytest.raises(ConfigError, match="process_credit must be one of tactic, first-token"):
        GRPOTrainer("owner/model", "proof-verified", process_credit="token")


@pytest.mark.parametrize(
    ("spans", "complaint"),
    [
        ([], "one item for each of the 1 completions"),
        ([[(0, 1, 1.0)]], "is not a Span"),
        ([[Span(0, 9, 1.0)]], "inside a completion of 3 characters"),
        ([[Span(0, 1, float("nan"))]], "finite value"),
    ],
)
def test_bad_spans_name_the_reward(spans, complaint):
    class Bad(Spoken):
        def spans(self, completions, **columns):
            return spans

    with pytest.raises(RewardError, match=f"(?s)reward 'bad' of mine 1.*{complaint}"):
        adapt(Bad(), name="bad", provenance="mine 1").spans(["rfl"], problem=["x"])


def test_the_run_and_its_rewards_share_engines():
    trainer = GRPOTrainer("owner/model", {"proof-verified": {"weight": 1, "engines": 1}})
    assert trainer.lean is trainer.rewards[0].function.lean
    other = GRPOTrainer("owner/model", "constant")
    assert other.lean is other.lean
