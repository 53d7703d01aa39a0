"""A progress dataset that is easy to learn, and an encoder in small."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from lean_dojo_v2.lean_progress.examples import ProgressExample, read_examples, write_examples


def example(theorem: int, index: int, length: int) -> ProgressExample:
    """A proof whose state counts down."""
    left = length - index - 1
    return ProgressExample(
        goal=f"⊢ {'s ' * left}p",
        tactic=f"step{left}",
        steps_remaining=left,
        prefix="\n".join(f"step{length - i - 1}" for i in range(index)),
        theorem=f"t{theorem}",
    )


@pytest.fixture(scope="session")
def dataset_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "progress.jsonl"
    write_examples(path, [example(t, i, 1 + t % 5) for t in range(40) for i in range(1 + t % 5)])
    return path


@pytest.fixture(scope="session")
def encoder(tmp_path_factory, dataset_file) -> str:
    """A BERT of two small layers with a tokenizer trained on the data."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    texts = [e.text for e in read_examples(dataset_file)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    )  # fmt: skip
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128,
    )  # fmt: skip
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)
