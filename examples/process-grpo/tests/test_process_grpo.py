"""Tests of process-grpo: the conformance checks, and what it promises itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from lean_dojo_core.errors import ConfigError
from lean_dojo_core.testing import ManifestSuite, TrainerSuite
from transformers import PreTrainedTokenizerFast

from process_grpo.trainer import ProcessGRPO

ROW = {
    "full_name": "both",
    "problem": "theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q :=",
    "header": "",
}
PROOFS = ["constructor\n· exact hp\n· rw [foo]", "constructor", "exact ⟨hp, hq⟩", "sorry", ""]


class TestManifest(ManifestSuite):
    distribution = "process-grpo"


class TestProcessGRPO(TrainerSuite):
    name = "process-grpo"

    def make_in(self, output_dir: Path) -> ProcessGRPO:
        return ProcessGRPO("owner/model", "proof-verified", output_dir=str(output_dir))


class Letters(ProcessGRPO):
    """With a token for each character, and one that ends a text."""

    @property
    def tokenizer(self) -> PreTrainedTokenizerFast:
        from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

        letters = sorted(set("".join(PROOFS)))
        words = {letter: number for number, letter in enumerate(["<end>", *letters])}
        made = Tokenizer(models.WordLevel(words, unk_token="<end>"))
        made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        made.decoder = decoders.Fuse()
        return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


def test_sound_tactics_gain_and_the_first_failing_one_loses(tmp_path: Path) -> None:
    trainer = Letters("owner/model", "proof-verified", output_dir=str(tmp_path))
    tokenizer = trainer.tokenizer
    texts = [[*tokenizer(proof)["input_ids"], 0] for proof in PROOFS]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in texts], batch_first=True)
    mask = torch.zeros_like(ids)
    for place, one in enumerate(texts):
        mask[place, : len(one)] = 1
    found = trainer.token_advantages(
        rows=[ROW] * len(PROOFS),
        completions=PROOFS,
        completion_ids=ids,
        completion_mask=mask,
        rewards=torch.zeros(len(PROOFS), 1),
        advantages=torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0]),
    )
    trainer.lean.close()

    def worth(row: int, text: str) -> set[float]:
        start = PROOFS[row].index(text)
        places = [place for place, letter in enumerate(text, start) if not letter.isspace()]
        return {float(found[row, place]) for place in places}

    assert worth(0, "constructor") == worth(0, "exact hp") == {0.5}
    assert worth(0, "rw [foo]") == {-0.5}
    assert worth(1, "constructor") == {0.5}
    assert float(found[1, len(PROOFS[1])]) == -0.5, "it ends too early"
    assert worth(2, "exact ⟨hp, hq⟩") == {1.5}
    assert worth(3, "sorry") == {0.0}, "cheating teaches nothing here"


def test_single_tactics_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="whole proofs"):
        ProcessGRPO("owner/model", "constant", output_dir=str(tmp_path), formatter="tactic-prompt")


def test_its_own_check_is_heard_before_those_of_its_base(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="process-grpo learns whole proofs"):
        ProcessGRPO("no/such/model", output_dir=str(tmp_path), episodes=True, statements="sorry")
