"""A prompt that is computed once for its group gives what one row a completion gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from lean_dojo_plugins.causal_lm.model.label_head import add_label_head
from lean_dojo_plugins.grpo.shared_prompt import pack, read_prompts_once, score, why_not_shared

SMALL: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0,
}  # fmt: skip
PROMPTS = [[5, 6, 7, 8, 9], [11, 12, 13], [5, 6, 7]]
COMPLETIONS = [(0, 4), (1, 6), (0, 1), (0, 6), (1, 2), (2, 3)]
"""The prompt of each row, and the length of its completion; the last prompt stands alone."""


def llama(attention: str = "sdpa") -> Any:
    return LlamaForCausalLM(LlamaConfig(**SMALL, attn_implementation=attention))


MODELS = {
    "llama": llama,
    "llama, eager": lambda: llama("eager"),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SMALL)),
    "gpt2": lambda: GPT2LMHeadModel(
        GPT2Config(
            vocab_size=64, n_embd=32, n_layer=2, n_head=4, pad_token_id=0,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )
    ),
}  # fmt: skip


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(0)
    return MODELS[request.param]()


def batch() -> tuple[torch.Tensor, torch.Tensor, int]:
    """A batch as TRL lays it out: prompts padded on the left, completions on the right."""
    width, kept = 5, 6
    ids = torch.zeros(len(COMPLETIONS), width + kept, dtype=torch.long)
    mask = torch.zeros_like(ids)
    generator = torch.Generator().manual_seed(1)
    for row, (which, length) in enumerate(COMPLETIONS):
        prompt = PROMPTS[which]
        ids[row, width - len(prompt) : width] = torch.tensor(prompt)
        ids[row, width : width + length] = torch.randint(1, 64, (length,), generator=generator)
        mask[row, width - len(prompt) : width + length] = 1
    return ids, mask, kept


def of_plain_rows(model: Any) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask, kept = batch()
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, :-kept] = -100
    out = model(input_ids=ids, attention_mask=mask, labels=labels, fused_lm_head=True)
    return out.log_probs[:, -kept:], out.entropy[:, -kept:]


def gradients(model: Any, log_probs: torch.Tensor) -> list[torch.Tensor]:
    weights = torch.linspace(-1, 1, log_probs.numel()).view_as(log_probs)
    model.zero_grad()
    (log_probs * weights).sum().backward()
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def test_values_and_gradients_are_those_of_plain_rows(model: Any) -> None:
    add_label_head(model, temperature=0.7)
    groups = pack(*batch())
    assert groups is not None
    assert groups.input_ids.shape[0] == len(PROMPTS)
    shared, entropy = score(model, groups)
    plain, plain_entropy = of_plain_rows(model)
    torch.testing.assert_close(shared, plain, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(entropy, plain_entropy, atol=1e-5, rtol=1e-5)
    pairs = zip(gradients(model, shared), gradients(model, of_plain_rows(model)[0]), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_nothing_is_packed_where_no_prompt_repeats() -> None:
    ids, mask, kept = batch()
    rows = [0, 1, 5]
    assert pack(ids[rows], mask[rows], kept) is None


@pytest.mark.parametrize("sample", [False, True])
def test_the_same_tokens_are_written(model: Any, sample: bool) -> None:
    ids, mask, kept = batch()
    prompts = {"input_ids": ids[:, :-kept], "attention_mask": mask[:, :-kept]}
    config = GenerationConfig(do_sample=sample, max_new_tokens=8, pad_token_id=0)
    model.eval()
    torch.manual_seed(3)
    plain = model.generate(**prompts, generation_config=config)
    torch.manual_seed(3)
    shared = model.generate(
        **prompts, **read_prompts_once(model, **prompts), generation_config=config
    )
    assert shared.tolist() == plain.tolist()


def test_a_model_with_a_window_says_why_not() -> None:
    windowed = MistralForCausalLM(MistralConfig(**SMALL, sliding_window=4))
    assert why_not_shared(windowed) == "not all of its attention layers are plain"
    assert why_not_shared(llama()) is None


def test_trl_learns_the_same_with_it_and_without(tiny_model: Path, tmp_path: Path) -> None:
    """Two steps of TRL's trainer in float32, with groups, padding and a KL term."""
    from datasets import Dataset, disable_progress_bars
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.trainer.grpo_config import GRPOConfig

    from lean_dojo_plugins.grpo.step_trainer import StepTrainer

    disable_progress_bars()
    rows = Dataset.from_list([{"prompt": f"n : Nat\n⊢ n + {i} = {'n + ' * i}0"} for i in range(4)])

    def reference() -> Any:
        torch.manual_seed(1)
        made = AutoModelForCausalLM.from_pretrained(tiny_model)
        for weight in made.parameters():
            weight.data.add_(torch.randn_like(weight), alpha=0.02)
        return made

    def trained(share: bool) -> tuple[list[float], dict[str, torch.Tensor]]:
        trainer = StepTrainer(
            model=AutoModelForCausalLM.from_pretrained(tiny_model),
            reward_funcs=lambda completion_ids, **_: [sum(ids) % 7.0 for ids in completion_ids],
            args=GRPOConfig(
                output_dir=str(tmp_path / str(share)), use_cpu=True, max_steps=2, beta=0.1,
                per_device_train_batch_size=8, num_generations=4, max_completion_length=8,
                logging_steps=1, save_strategy="no", report_to="none", disable_tqdm=True,
                # AdamW would make whole steps of rounding errors.
                learning_rate=1.0, optim="sgd", bf16=False, seed=0,
            ),
            train_dataset=rows,
            processing_class=AutoTokenizer.from_pretrained(tiny_model),
            share_prompts=share,
        )  # fmt: skip
        assert trainer.shares_prompts is share
        add_label_head(trainer.model, temperature=trainer.temperature)
        trainer.refer_to(reference())
        trainer.train()
        [*steps, _] = trainer.state.log_history
        assert all(row["reward_std"] > 0 and row["kl"] > 0.01 for row in steps)
        losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
        return losses, dict(trainer.model.state_dict())

    (losses, weights), (plain_losses, plain_weights) = trained(True), trained(False)
    start = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    assert max(float((weights[name] - start[name]).abs().max()) for name in start) > 0.01
    assert losses == pytest.approx(plain_losses, abs=1e-5)
    for name, weight in weights.items():
        torch.testing.assert_close(weight, plain_weights[name], atol=1e-5, rtol=1e-5)


def test_it_is_no_other_run_with_it_or_without() -> None:
    """So a run that was begun without it, or before there was any, goes on."""
    from lean_dojo_plugins.grpo.trainer import GRPOTrainer

    shared, plain = (
        GRPOTrainer("owner/model", "constant", share_prompts=share).settings()
        for share in (True, False)
    )
    assert shared == plain
