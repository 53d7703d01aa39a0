"""A model built from texts alone: it loads like any other, and its tokenizer loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from lean_dojo_plugins.causal_lm.text.formatters import ask
from lean_dojo_plugins.causal_lm.tiny_model import BOS, EOS, PAD, build_tiny_model

TEXTS = [
    "p q : Prop\nh : p ∧ q\n⊢ q ∧ p",
    "xs ys : List Nat\n⊢ doubleAll (join xs ys) = join (doubleAll xs) (doubleAll ys)",
    "obtain ⟨hp, hq⟩ := h",
    "simp [join, doubleAll, ih]",
]
SIZES: dict[str, Any] = {"hidden_size": 32, "layers": 2, "heads": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(TEXTS, tmp_path_factory.mktemp("tiny") / "model", **SIZES)


def test_it_loads_like_any_model_and_generates(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    assert model.get_input_embeddings().num_embeddings == len(tokenizer)
    batch = tokenizer(TEXTS[:2], return_tensors="pt", padding=True)
    made = model.generate(
        input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=3
    )
    assert made.shape[1] <= batch["input_ids"].shape[1] + 3


def test_special_tokens_are_three_different_ones(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token) == (BOS, EOS, PAD)
    ids = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    assert len(ids) == 3
    for config in (model.config, model.generation_config):
        assert config.eos_token_id == tokenizer.eos_token_id
        assert config.pad_token_id == tokenizer.pad_token_id


@pytest.mark.parametrize("text", [*TEXTS, "Ω → 𝔽₂ ≃ 日本\t\r\n x✝¹", "  two  spaces ", ""])
def test_decoding_gives_back_every_text(folder: Path, text: str) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_a_name_is_made_of_its_parts(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("doubleAll_join") == ["double", "All", "_", "join"]
    assert tokenizer.tokenize("hpq") == ["h", "p", "q"]


def test_the_prompt_is_a_prefix_of_the_conversation(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    asked = ask("⊢ p")
    told = [*asked, {"role": "assistant", "content": "exact hp"}]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    whole = tokenizer.apply_chat_template(told, tokenize=False)
    assert whole == prompt + "exact hp" + EOS
    assert prompt.startswith(BOS)
    assert "⊢ p" in prompt
    ids = tokenizer(whole, add_special_tokens=False)["input_ids"]
    start = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    assert ids[: len(start)] == start


def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    def weights(name: str, seed: int) -> bytes:
        made = build_tiny_model(TEXTS, tmp_path / name, seed=seed, **SIZES)
        return (made / "model.safetensors").read_bytes()

    assert weights("a", 1) == weights("b", 1)
    assert weights("a", 1) != weights("c", 2)


def test_bad_sizes_and_no_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no texts"):
        build_tiny_model([], tmp_path)
    with pytest.raises(ValueError, match="multiple of 2 \\* heads"):
        build_tiny_model(TEXTS, tmp_path, hidden_size=30, heads=4)
    with pytest.raises(ValueError, match="at least 259"):
        build_tiny_model(TEXTS, tmp_path, vocab_size=100)
