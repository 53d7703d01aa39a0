"""The examples run as they are written, with a small model in the place of the large one.

Replaced in their text are the model, the sizes, the output folders and the commit; a local git
repository stands in for the remote one by git's own ``url.<base>.insteadOf``.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lean_dojo_v2.database import DynamicDatabase

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
URL = "https://github.com/durant42040/lean4-example"
COMMIT = "b14fef0ceca29a65bc3122bf730406b33c7effe5"
MODEL = "deepseek-ai/DeepSeek-Prover-V2-7B"


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    texts = ["⊢ p ∧ q exact hp constructor rfl simp intro h rw [h] left"] * 4
    folder = tmp_path_factory.mktemp("model") / "small"
    return build_tiny_model(texts, folder, hidden_size=32, layers=1, vocab_size=400, max_length=192)


@pytest.fixture
def workplace(tmp_path, tiny_repository, monkeypatch):
    """An empty current folder in which the documented address is the tiny repository's."""
    folder, _ = tiny_repository
    (tmp_path / "gitconfig").write_text(
        f'[url "{folder}"]\n\tinsteadOf = {URL}\n[safe]\n\tdirectory = *\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.delenv("RAID_DIR", raising=False)
    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    yield tmp_path / "work"
    torch.set_num_threads(threads)


@pytest.fixture
def run_example(workplace, tiny_repository):
    def run(name: str, **changes: str) -> None:
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        if COMMIT in text:
            changes[COMMIT] = tiny_repository[1]
        for old, new in changes.items():
            assert old in text, f"{name} has no {old!r}"
            text = text.replace(old, new)
        script = workplace / name
        script.write_text(text, encoding="utf-8")
        runpy.run_path(str(script), run_name="__main__")

    return run


def assert_tried(workplace: Path, out: str) -> None:
    """Everything was traced, recorded and tried."""
    [repository] = DynamicDatabase(workplace / "dynamic_database.json").repositories
    assert repository.url == URL
    assert "Found 4 sorry theorems to prove" in out
    for name in ("Tiny.gap_pair", "Tiny.gap_false", "gap_chain", "gap_term"):
        assert f"Proving {name}\n" in out
    assert (workplace / "raid").is_dir()


@pytest.mark.slow
def test_sft(run_example, workplace, small_model, capsys):
    run_example("sft.py", **{MODEL: str(small_model)})
    assert_tried(workplace, capsys.readouterr().out)
    assert (workplace / "outputs-deepseek" / "model.safetensors").is_file()


@pytest.mark.slow
def test_lora(run_example, workplace, small_model, capsys):
    run_example("lora.py", **{MODEL: str(small_model), "r=16": "r=2"})
    said = capsys.readouterr()
    assert_tried(workplace, said.out)
    assert "trainable parameters: " in said.err
    assert (workplace / "outputs-lora" / "adapter_model.safetensors").is_file()
    assert not (workplace / "outputs-lora" / "model.safetensors").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grpo.py", "custom_reward.py"])
def test_grpo(run_example, workplace, small_model, name, capsys):
    run_example(name, **{MODEL: str(small_model), "batch_size=8": "batch_size=4"})
    assert_tried(workplace, capsys.readouterr().out)
    folder = "outputs-grpo" if name == "grpo.py" else "outputs-custom-reward"
    assert (workplace / folder / "model.safetensors").is_file()


@pytest.mark.slow
def test_lean_agent(run_example, workplace, tiny_t5, capsys):
    generator, encoder = tiny_t5
    sizes = f"model_name={str(encoder)!r}, batch_size=4, num_workers=0"
    run_example(
        "lean_agent.py",
        **{
            "import LeanAgent\n": "import LeanAgent\n"
            "from lean_dojo_v2.lean_agent.config import TrainingConfig\n",
            "LeanAgent()": f"LeanAgent(training_config=TrainingConfig({sizes}, precision='32-true'), "
            f"gen_ckpt_path={str(generator)!r})",
        },
    )
    assert_tried(workplace, capsys.readouterr().out)
    assert list((workplace / "raid" / "checkpoints").rglob("*.ckpt"))


@pytest.mark.slow
def test_lean_progress(run_example, workplace, tmp_path, capsys):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    dataset = "raid/data/sample_leanprogress_dataset.jsonl"
    module = "lean_dojo_v2.lean_progress.create_sample_dataset"
    subprocess.run([sys.executable, "-m", module, "--output", dataset], check=True)
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    lines = (workplace / dataset).read_text(encoding="utf-8").splitlines()
    tokenizer.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=special))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    fast.save_pretrained(tmp_path / "bert")
    config = BertConfig(
        vocab_size=len(fast), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path / "bert")
    run_example("lean_progress.py", **{"bert-base-uncased": str(tmp_path / "bert")})
    assert "LEANPROGRESS_MODEL" in capsys.readouterr().out
    from lean_dojo_core import registry

    trainer = registry.builtin(registry.trainers, "progress")
    model = trainer.estimator(workplace / "outputs-progress")
    assert len(model.predict([("⊢ p", "", "rfl"), ("⊢ q", "intro", "simp")])) == 2


def test_every_example_is_run():
    """A new example needs a test here."""
    known = {
        "sft.py",
        "lora.py",
        "grpo.py",
        "custom_reward.py",
        "lean_agent.py",
        "lean_progress.py",
    }
    assert {path.name for path in EXAMPLES.glob("*.py")} == known
