"""Sampling: probabilities, ends, shortening, adapters."""

from __future__ import annotations

import math

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.testing import assert_close
from transformers import AutoModelForCausalLM

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator, end_tokens
from lean_dojo_plugins.causal_lm.generate.sampling import pick, uniforms
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_v2.errors import CheckpointError, TrainingError
from lean_dojo_v2.lean import TacticWords

GOALS = ["⊢ x1 + 0 = 0 + x1", "h1 : x1 = 2\nh2 : x2 = 3\n⊢ x5 + 0 = 0 + x5", "⊢ True"]


@pytest.fixture(scope="module")
def loaded(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    return model, load_tokenizer(tiny_model)


@pytest.fixture(scope="module")
def generator(loaded):
    """Of a model that likes to end its line: random ones hardly ever would."""
    model, tokenizer = loaded
    model = AutoModelForCausalLM.from_pretrained(model.config._name_or_path)
    ends = end_tokens(tokenizer, model)
    bias = torch.nn.Parameter(torch.zeros(model.config.vocab_size))
    bias.data[ends] = 4.0
    model.lm_head.bias = bias
    return CausalTacticGenerator.from_model(model, tokenizer)


def test_log_probabilities_are_the_models_own(generator, monkeypatch):
    # Text does not say which tokens it was made of; so let the "text" be the tokens.
    monkeypatch.setattr(generator, "_text", lambda tokens: " ".join(map(str, tokens)))
    results = generator.generate(GOALS, 6, temperature=1.3, seed=3)
    for goal, found in zip(GOALS, results, strict=True):
        assert len({text for text, _ in found}) == len(found) > 1
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        ids = generator.prompt_ids(goal)
        for text, total in found:
            answer = [int(token) for token in text.split()]
            assert answer[-1] in generator.ends
            with torch.inference_mode():
                logits = generator.model(input_ids=torch.tensor([ids + answer])).logits[0]
            log_probs = logits.float().log_softmax(-1)[len(ids) - 1 : -1]
            expected = float(log_probs.gather(1, torch.tensor(answer)[:, None]).sum())
            assert total == pytest.approx(expected, abs=1e-3)


def test_batched_equals_one_by_one(generator):
    together = generator.generate(GOALS, temperature=0)
    for goal, found in zip(GOALS, together, strict=True):
        (alone,) = generator.generate([goal], temperature=0)
        assert [text for text, _ in alone] == [text for text, _ in found]
        assert_close([s for _, s in alone], [s for _, s in found], atol=1e-4, rtol=1e-4)


def test_small_batches_give_the_same(loaded, generator):
    tight = CausalTacticGenerator.from_model(generator.model, generator.tokenizer)
    tight.batch_tokens = 1
    for a, b in zip(
        tight.generate(GOALS, temperature=0), generator.generate(GOALS, temperature=0), strict=True
    ):
        assert [text for text, _ in a] == [text for text, _ in b]


def test_a_seed_repeats(generator):
    assert generator.generate(GOALS, 4, seed=5) == generator.generate(GOALS, 4, seed=5)


def test_a_seed_of_a_goal_gives_its_samples_whatever_else_is_in_the_batch(generator):
    seeds = list(range(len(GOALS)))
    together = generator.generate(GOALS, 6, seeds=seeds, merge=False)
    for goal, seed, found in zip(GOALS, seeds, together, strict=True):
        [alone] = generator.generate([goal], 6, seeds=[seed], merge=False)
        assert [text for text, _ in alone] == [text for text, _ in found]
        assert [score for _, score in alone] == pytest.approx(
            [score for _, score in found], abs=1e-3
        )
    assert len({text for text, _ in together[0]}) > 1
    [other] = generator.generate(GOALS[:1], 6, seeds=[77], merge=False)
    assert other != together[0]


def test_draws_follow_the_probabilities():
    probabilities = torch.tensor([[0.0, 0.5, 0.0, 0.25, 0.25, 0.0]]).repeat(4096, 1)
    draws = uniforms([1, 2], 2048, 1, torch.device("cpu"))[:, 0]
    chosen = torch.bincount(pick(probabilities, draws), minlength=6) / 4096
    assert chosen.tolist() == pytest.approx([0, 0.5, 0, 0.25, 0.25, 0], abs=0.03)
    assert pick(probabilities[:1], torch.tensor([1 - 1e-16], dtype=torch.float64)).item() == 4


def test_a_tactic_that_does_not_end_is_dropped(loaded):
    model, tokenizer = loaded
    never = CausalTacticGenerator.from_model(model, tokenizer)
    never.ends = torch.tensor([model.config.vocab_size + 1])
    assert never.generate(GOALS[:1], 2, max_new_tokens=3) == [[]]


def test_a_sample_that_begins_no_tactic_ends_there(generator, monkeypatch):
    asked = []
    forward = generator.model.forward
    monkeypatch.setattr(
        generator.model,
        "forward",
        lambda *a, **k: asked.append(len(k["input_ids"])) or forward(*a, **k),
    )
    seeds = list(range(len(GOALS)))
    plain = generator.generate(GOALS, 6, seeds=seeds, merge=False)
    unlimited, asked[:] = sum(asked), []
    none, some = TacticWords(frozenset({"☃"})), TacticWords(frozenset(), other=True)
    found = generator.generate(GOALS, 6, seeds=seeds, merge=False, words=[none, some, None])
    assert {text for text, _ in found[0]} == {""}
    assert [text for each in found[1:] for text, _ in each] == [
        text for each in plain[1:] for text, _ in each
    ], "the others are as without"
    assert sum(asked) < unlimited
    whole = [text for text, _ in plain[0] if text]
    known = TacticWords(frozenset(text.split()[0] for text in whole[:1]))
    kept = generator.generate(GOALS[:1], 6, seeds=[0], merge=False, words=[known])[0]
    assert whole[0] in {text for text, _ in kept}
    assert all(text in {was, ""} for (text, _), (was, _) in zip(kept, plain[0], strict=True))


def test_ends_are_newlines_and_the_end_of_turn(loaded):
    model, tokenizer = loaded
    ends = end_tokens(tokenizer, model)
    assert tokenizer.eos_token_id in ends
    assert tokenizer("\n", add_special_tokens=False)["input_ids"][0] in ends
    assert not set(tokenizer("simp", add_special_tokens=False)["input_ids"]) & set(ends)


def test_a_goal_beyond_the_model_is_shortened(generator):
    goal = "\n".join(f"h{k} : p{k}" for k in range(900)) + "\n⊢ q"
    ids = generator.prompt_ids(goal)
    assert len(ids) <= generator.max_length - 128
    assert "⊢ q" in generator.tokenizer.decode(ids)
    generator.generate([goal], temperature=0, max_new_tokens=4)


def test_an_adapter_folder_loads_onto_its_base(tiny_model, tmp_path):
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    torch.manual_seed(1)
    lora = LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    adapted = get_peft_model(base, lora)
    adapted.save_pretrained(tmp_path)
    load_tokenizer(tiny_model).save_pretrained(tmp_path)
    adapted.eval()
    loaded = CausalTacticGenerator(tmp_path, use_lora=True, device="cpu")
    ids = torch.tensor([loaded.prompt_ids(GOALS[0])])
    with torch.inference_mode():
        expected = adapted(input_ids=ids).logits
        found = loaded.model(input_ids=ids).logits.float()
    assert not math.isclose(float(expected.abs().max()), 0)
    assert_close(found, expected, atol=0.05, rtol=0.05)  # generation runs in bfloat16


def test_errors_say_what_to_do(tiny_model, tmp_path, monkeypatch):
    with pytest.raises(CheckpointError, match=r"there is no LoRA adapter.*leave use_lora out"):
        CausalTacticGenerator(tiny_model, use_lora=True)
    with pytest.raises(UsageError, match="there is no model at"):
        CausalTacticGenerator(tmp_path / "missing")
    with pytest.raises(TrainingError, match="no model can be loaded from there"):
        CausalTacticGenerator(tmp_path)
    with pytest.raises(UsageError, match="num_samples"):
        CausalTacticGenerator(tiny_model).generate(GOALS, 0)


def test_a_model_whose_state_cannot_be_repeated_is_a_clear_error(loaded):
    from transformers import Qwen3NextConfig, Qwen3NextForCausalLM

    config = Qwen3NextConfig(
        vocab_size=loaded[0].config.vocab_size, hidden_size=32, intermediate_size=32,
        num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
        linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=8,
        linear_value_head_dim=8, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
        shared_expert_intermediate_size=16, layer_types=["linear_attention", "full_attention"],
    )  # fmt: skip
    hybrid = CausalTacticGenerator.from_model(Qwen3NextForCausalLM(config), loaded[1])
    with pytest.raises(UsageError, match=r"Qwen3NextForCausalLM keeps a state .*vllm serve"):
        hybrid.generate(GOALS, 2, max_new_tokens=4)
