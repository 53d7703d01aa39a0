"""`lean-dojo push` without a hub, and `lean-dojo merge-lora` with a real adapter."""

from __future__ import annotations

import json

import huggingface_hub
import pytest

from lean_dojo_core.errors import UsageError


@pytest.fixture
def model(workplace):
    folder = workplace / "outputs"
    (folder / "checkpoint-1").mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "optimizer.pt"):
        (folder / name).write_text("{}")
    (folder / "metrics.jsonl").write_text('{"step": 1, "loss": 2.5, "time": 1}\n')
    return folder


def test_a_dry_run_lists_and_sends_nothing(lean_dojo, model):
    ran = lean_dojo("push", "outputs", "ada/prover", "--dry-run")
    assert ran.code == 0, ran.err
    names = [line.split()[0] for line in ran.out.splitlines()[1:7]]
    assert names == [
        "README.md", "config.json", "metrics.jsonl", "model.safetensors", "report.html",
        "tokenizer.json",
    ]  # fmt: skip
    assert "# outputs" in ran.out
    assert "Nothing was sent. 6 files would go to ada/prover." in ran.err
    assert not (model / "report.html").exists()


def test_what_is_sent(lean_dojo, model, monkeypatch):
    sent = {}

    class Hub:
        def create_repo(self, repo_id, **options):
            sent.update(options)
            return f"https://example.org/{repo_id}"

        def create_commit(self, repo_id, operations, commit_message):
            sent["files"] = {one.path_in_repo: one.path_or_fileobj for one in operations}
            sent["message"] = commit_message

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    ran = lean_dojo("push", "outputs", "ada/prover", "--private", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["url"] == "https://example.org/ada/prover"
    assert sent["private"] is True
    assert sent["files"].keys() == ran.json["files"].keys()
    assert "optimizer.pt" not in sent["files"]


def test_a_hub_out_of_reach_is_one_message(lean_dojo, model, monkeypatch):
    class Hub:
        def create_repo(self, repo_id, **options):
            raise ConnectionError("no route to host")

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    ran = lean_dojo("push", "outputs", "ada/prover")
    assert ran.code == 1
    assert "the hub refused ada/prover: no route to host" in ran.err
    assert ran.err.count("Error: ") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["push", "outputs", "prover"], "write owner/name"),
        (["push", "outputs/checkpoint-1", "ada/prover"], "holds no model"),
        (["merge-lora", "outputs"], "is not a LoRA adapter"),
    ],
)
def test_mistakes(lean_dojo, model, arguments, said):
    ran = lean_dojo(*arguments)
    assert (ran.code, ran.err.count("Error: ")) == (2, 1)
    assert said in ran.err


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
