"""What all rows of a batch begin with is computed once, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from lean_dojo_plugins.causal_lm.model.label_head import add_label_head
from lean_dojo_plugins.causal_lm.model.shared_prefix import can_share_prefix, shared_length

SMALL: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2,
}  # fmt: skip
PREFIX = 10


def llama(**more: Any) -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SMALL, **more))


def batch() -> dict[str, torch.Tensor]:
    """Three rows of different length: a prefix, some more, two or three labels."""
    torch.manual_seed(1)
    lengths = [PREFIX + 6, PREFIX + 9, PREFIX + 4]
    ids = torch.randint(3, 64, (3, max(lengths)))
    ids[:, :PREFIX] = ids[0, :PREFIX]
    ids[:, PREFIX] = torch.tensor([3, 4, 5])
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, : PREFIX + 2] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def scored(model: Any, share: bool) -> tuple[Any, list[torch.Tensor]]:
    add_label_head(model, share_prefix=share)
    model.zero_grad()
    scores = model(**batch(), fused_lm_head=True)
    scores.loss.backward()
    return scores, [p.grad.clone() for p in model.parameters() if p.grad is not None]


@pytest.mark.parametrize("lora", [False, True])
def test_values_and_gradients_are_those_of_whole_rows(lora: bool) -> None:
    def model() -> Any:
        made: Any = llama()
        if lora:
            adapter = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
            made = get_peft_model(made, adapter)
        return made.train()

    plain, shared = model(), model()
    shared.load_state_dict(plain.state_dict())
    assert can_share_prefix(shared)
    tokens: list[int] = []
    embedding = shared.get_input_embeddings()
    embedding.register_forward_pre_hook(lambda _, given: tokens.append(given[0].numel()))
    one, other = scored(shared, True), scored(plain, False)
    for name in ("loss", "log_probs", "entropy", "is_top1", "label_mask"):
        torch.testing.assert_close(one[0][name], other[0][name], atol=1e-5, rtol=1e-5)
    for mine, theirs in zip(one[1], other[1], strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)
    assert tokens == [PREFIX, 3 * 9]


def test_how_much_is_shared() -> None:
    model = llama()
    given = batch()
    labels = given.pop("labels")

    def length(**changed: torch.Tensor) -> int:
        now = {**given, "labels": labels, **changed}
        is_scored = now.pop("labels")[:, 1:] != -100
        return shared_length(model, now, is_scored)

    assert length() == PREFIX
    # A label is predicted by the token before it, which is then each row's own.
    early = labels.clone()
    early[1, PREFIX] = 7
    assert length(labels=early) == PREFIX - 1
    early[1, 3] = 7
    assert length(labels=early) == 0
    padded_left = given["attention_mask"].flip(1)
    assert length(attention_mask=padded_left) == 0
    assert length(position_ids=torch.zeros(3, 19)) == 0
    one = {name: value[:1] for name, value in given.items()}
    assert shared_length(model, one, labels[:1, 1:] != -100) == 0
    model.activation_checkpointing_enable()
    assert length() == 0


def test_where_it_would_change_something_nothing_is_shared() -> None:
    assert can_share_prefix(llama())
    assert not can_share_prefix(llama(attention_dropout=0.1))
    adapter = LoraConfig(r=4, target_modules=["q_proj"], lora_dropout=0.1)
    assert not can_share_prefix(get_peft_model(llama(), adapter))


def test_what_is_checkpointed_later_is_not_shared() -> None:
    """Trainers switch checkpointing on as they begin, after the head has been put on."""
    plain, checkpointed = llama().train(), llama().train()
    add_label_head(plain)
    add_label_head(checkpointed, share_prefix=can_share_prefix(checkpointed))
    checkpointed.activation_checkpointing_enable()
    losses = [model(**batch(), fused_lm_head=True).loss for model in (plain, checkpointed)]
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(*losses)
    for mine, theirs in zip(checkpointed.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
