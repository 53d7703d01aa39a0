"""`lean-dojo merge-lora` with a real adapter."""

from __future__ import annotations

import json

import pytest

from lean_dojo_core.errors import UsageError


def test_a_folder_that_is_no_adapter(lean_dojo, workplace):
    (workplace / "outputs").mkdir()
    ran = lean_dojo("merge-lora", "outputs")
    assert (ran.code, ran.err.count("Error: ")) == (2, 1)
    assert "is not a LoRA adapter" in ran.err


def test_a_merged_adapter_says_what_the_adapter_says(lean_dojo, workplace):
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    from lean_dojo_plugins.causal_lm.model.loading import load_model
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
    from lean_dojo_plugins.training.devices import choose_device

    build_tiny_model(["p q r ⊢ simp"] * 4, "base", hidden_size=32, layers=1, vocab_size=300)
    base = AutoModelForCausalLM.from_pretrained("base")
    config = LoraConfig(r=2, task_type="CAUSAL_LM", init_lora_weights=False)
    adapted = get_peft_model(base, config)
    adapted.save_pretrained("adapter")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (workplace / "adapter" / name).write_bytes((workplace / "base" / name).read_bytes())
    (workplace / "adapter" / "README.md").write_text("---\nlibrary_name: peft\n---\n")
    ran = lean_dojo("merge-lora", "adapter", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["dtype"] == "float32"
    assert ran.err == "Merged adapter into its base model (float32).\n", "no bars and warnings"
    merged = AutoModelForCausalLM.from_pretrained(ran.json["model"])
    tokens = torch.tensor([[1, 2, 3, 4]])
    with torch.no_grad():
        wanted = adapted.eval()(input_ids=tokens).logits
        found = merged.eval()(input_ids=tokens).logits
    assert torch.allclose(wanted, found, atol=1e-4)
    assert "library_name: transformers" in (workplace / "adapter-merged" / "README.md").read_text()
    again = lean_dojo("merge-lora", "adapter")
    assert again.code == 2
    assert "already exists" in again.err
    assert json.loads((workplace / "adapter-merged" / "config.json").read_text())

    (workplace / "base").rename("gone")
    ran = lean_dojo("merge-lora", "adapter", "-o", "other")
    assert ran.code == 1
    assert "Error: model 'base': there is no such folder here" in ran.err
    (workplace / "gone").rename("base")
    with pytest.raises(UsageError, match=r"lora_config.lora_dropout = 0.5, but the adapter"):
        load_model("adapter", lora=LoraConfig(r=2, lora_dropout=0.5), device=choose_device("cpu"))
    _set_base(workplace / "adapter" / "adapter_config.json", "./gone")
    ran = lean_dojo("merge-lora", "adapter", "-o", "other")
    assert ran.code == 1
    assert "correct base_model_name_or_path in adapter_config.json" in ran.err


def _set_base(file, name):
    file.write_text(json.dumps({**json.loads(file.read_text()), "base_model_name_or_path": name}))
