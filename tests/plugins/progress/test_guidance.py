"""A trained progress model guides proof search, through its environment variable."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.lean_progress.examples import ProgressExample, write_examples
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Suggestion

GOAL = "p q : Prop\nh : p ∨ q\n⊢ q ∨ p"


@pytest.fixture(scope="module")
def progress_model(tmp_path_factory):
    """Trained to expect one step after `cases` and nine after `have`."""
    folder = tmp_path_factory.mktemp("progress")
    rows = [
        ProgressExample(goal=GOAL, tactic=tactic, steps_remaining=steps, prefix="", theorem=f"t{k}")
        for k in range(16)
        for tactic, steps in (("cases h", 1), ("have a := h.symm", 9))
    ]
    write_examples(folder / "data.jsonl", rows)
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[PAD]", "[UNK]"]
    tokenizer.train_from_iterator(
        [row.text for row in rows], trainers.WordLevelTrainer(special_tokens=special)
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder / "base")
    config = BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, hidden_dropout_prob=0.0, initializer_range=0.2,
    )  # fmt: skip
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder / "base")
    ProgressTrainer(
        data_path=str(folder / "data.jsonl"), model_name=str(folder / "base"),
        output_dir=str(folder / "out"), max_length=64, epochs=30.0, learning_rate=1e-2,
    ).train()  # fmt: skip
    return folder / "out"


class Fixed:
    def __init__(self):
        self.states = []

    def generate(self, goals, *, num_samples, premises=()):
        self.states += goals
        return [[Suggestion("have a := h.symm", -0.5), Suggestion("cases h", -1.0)] for _ in goals]


class FixedProver(BaseProver):
    def __init__(self, **settings):
        super().__init__(ProverConfig(max_expansions=2, **settings))
        self.fixed = Fixed()

    @property
    def generator(self):
        return self.fixed

    def generate_whole_proof(self, theorem):
        return ""


@pytest.mark.slow
def test_the_variable_changes_the_order(engine, progress_model, monkeypatch):
    text = "theorem s (p q : Prop) (h : p ∨ q) : q ∨ p := sorry\n"
    theorem = SourceTheorem(text, "s", "S.lean", (1, 1), (1, len(text)))

    def second():
        prover = FixedProver()
        prover.search(engine, theorem=theorem)
        return prover.fixed.states[1]

    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    assert "a : q ∨ p" in second()
    monkeypatch.setenv("LEANPROGRESS_MODEL", str(progress_model))
    assert "case inl" in second()


def test_what_weighs_nothing_is_not_loaded(engine, monkeypatch, tmp_path):
    """So is automation alone, the baseline of every prover, never guided."""
    monkeypatch.setenv("LEANPROGRESS_MODEL", str(tmp_path / "none"))
    prover = FixedProver(progress_weight=0.0)
    result, _ = prover.search(engine, goal="∀ p q : Prop, p ∨ q → q ∨ p")
    assert result.expansions == 1


def test_a_variable_that_names_nothing_is_an_error(engine, monkeypatch, tmp_path):
    monkeypatch.setenv("LEANPROGRESS_MODEL", str(tmp_path / "none"))
    with pytest.raises(CheckpointError, match="LEANPROGRESS_MODEL"):
        FixedProver().search(engine, goal="True")
