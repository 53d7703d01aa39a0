"""The head that scores labels only gives TRL's own numbers."""

from __future__ import annotations

import copy

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.testing import assert_close
from transformers import AutoModelForCausalLM, Gemma2Config, Gemma2ForCausalLM
from trl.trainer.utils import add_fused_lm_head

from lean_dojo_plugins.causal_lm.model.label_head import (
    add_label_head,
    label_log_probs,
    restore_forward,
)
from lean_dojo_plugins.causal_lm.model.loading import base_of


def batch(vocabulary: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, vocabulary, (3, 20), generator=generator)
    labels = ids.clone()
    labels[:, :14] = -100
    labels[0, 17:] = -100
    mask = torch.ones_like(ids)
    mask[0, 17:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def models(tiny_model):
    llama = AutoModelForCausalLM.from_pretrained(tiny_model)
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    # Gemma 2 soft-caps its logits: the model's own forward has to do that here, too.
    gemma = Gemma2Config(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        final_logit_softcapping=3.0,
    )
    torch.manual_seed(0)
    return {
        "llama": llama,
        "lora": get_peft_model(copy.deepcopy(llama), lora),
        "soft-capped": Gemma2ForCausalLM(gemma),
    }


@pytest.mark.parametrize("kind", ["llama", "lora", "soft-capped"])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_equals_trl(tiny_model, kind, temperature):
    theirs = models(tiny_model)[kind]
    ours = copy.deepcopy(theirs)
    fields = ("log_probs", "entropy", "is_top1")
    add_fused_lm_head(base_of(theirs), temperature=temperature, outputs=fields)
    add_label_head(ours, temperature=temperature)
    inputs = batch(base_of(ours).config.vocab_size)
    expected, found = (m(**inputs, fused_lm_head=True) for m in (theirs, ours))
    for name in ("loss", *fields, "label_mask"):
        left, right = getattr(found, name), getattr(expected, name)
        assert_close(left.to(torch.float32), right.to(torch.float32), atol=1e-6, rtol=1e-6)
    for result in (expected, found):
        result.loss.backward()
    for (name, one), (_, other) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        if one.requires_grad:
            assert_close(one.grad, other.grad, atol=2e-6, rtol=1e-4, msg=name)


def test_entropy_has_a_gradient_when_asked_for(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    inputs = batch(model.config.vocab_size)
    add_label_head(model)
    assert not model(**inputs, fused_lm_head=True).entropy.requires_grad
    restore_forward(model)
    add_label_head(model, differentiable_entropy=True)
    model(**inputs, fused_lm_head=True).entropy.sum().backward()


def test_without_a_label_the_loss_is_zero_and_differentiable(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    add_label_head(model)
    inputs = batch(model.config.vocab_size)
    inputs["labels"] = torch.full_like(inputs["labels"], -100)
    result = model(**inputs, fused_lm_head=True)
    assert result.loss == 0
    result.loss.backward()


def test_the_plain_call_and_generation_stay_as_they_were(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    inputs = batch(model.config.vocab_size)
    before = model(**inputs)
    add_label_head(model)
    after = model(**inputs)
    assert_close(after.loss, before.loss)
    assert_close(after.logits, before.logits)
    model.generate(inputs["input_ids"], max_new_tokens=2, do_sample=False)
    restore_forward(model)
    assert "forward" not in vars(model)


def test_log_probabilities_of_labels(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    inputs = batch(model.config.vocab_size)
    log_probs = label_log_probs(
        model, inputs["input_ids"], inputs["attention_mask"], inputs["labels"]
    )
    assert log_probs.shape == ((inputs["labels"] != -100).sum(),)
    assert_close(-log_probs.mean(), model(**inputs).loss, atol=1e-6, rtol=1e-6)
