"""Small repositories, datasets and models, each trained on in a second or two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
)

from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean_progress.examples import ProgressExample

# --- retrieval -------------------------------------------------------------------------------------


def repository(
    name: str, words: list[str], *, repeats: int = 8, shift: int = 0, date: str = "2026-01-01"
) -> Repository:
    """A repository with one premise per word and ``repeats`` theorems that use each.

    The state names a word, so retrieval can be learned: that of the premise, or with a ``shift``
    that of another one, which contradicts what is learned without.
    """
    url, commit = f"https://example.org/owner/{name}", (name * 40)[:40]
    base, main = f"{name}/Base.lean", f"{name}/Main.lean"
    premises = [
        {
            "full_name": f"{name}.{word}_eq",
            "code": f"theorem {word}_eq (n : Nat) : {word} n = n",
            "start": [2 * i + 1, 1],
            "end": [2 * i + 1, 50],
            "kind": "theorem",
        }
        for i, word in enumerate(words)
    ]
    theorems = []
    for number in range(repeats * len(words)):
        place = (number + shift) % len(words)
        word = words[number % len(words)]
        full_name = f"{name}.{words[place]}_eq"
        theorems.append(
            {
                "full_name": f"{name}.t{number}",
                "theorem_statement": f"theorem t{number} : {word} {number} = {number} :=",
                "file_path": main,
                "start": [3 * number + 1, 1],
                "end": [3 * number + 2, 20],
                "url": url,
                "commit": commit,
                "traced_tactics": [
                    {
                        "tactic": f"exact {full_name} _",
                        "annotated_tactic": [
                            f"exact <a>{full_name}</a> _",
                            [
                                {
                                    "full_name": full_name,
                                    "def_path": base,
                                    "def_pos": [2 * place + 1, 9],
                                    "def_end_pos": [2 * place + 1, 20],
                                }
                            ],
                        ],
                        "state_before": f"⊢ {word} {number} = {number}",
                        "state_after": "no goals",
                    }
                ],
            }
        )
    return Repository.from_dict(
        {
            "url": url,
            "name": f"owner/{name}",
            "commit": commit,
            "lean_version": "v4.28.0",
            "lean_dojo_version": "2.0.0",
            "metadata": {"date_processed": f"{date}T00:00:00"},
            "proven_theorems": theorems,
            "sorry_theorems_proved": [],
            "sorry_theorems_unproved": [],
            "premise_files": [
                {"path": base, "imports": [], "premises": premises},
                {"path": main, "imports": [base], "premises": []},
            ],
            "files_traced": [base, main],
            "pr_url": None,
        }
    )


FRUIT = ["apple", "banana", "cherry", "damson", "elder", "fig"]
METAL = ["gold", "iron", "zinc", "lead", "copper", "nickel"]


def save_encoder(folder: Path, **changes: Any) -> Path:
    torch.manual_seed(0)
    settings: dict[str, Any] = {
        "vocab_size": 384,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 1,
        "num_heads": 2,
        "feed_forward_proj": "gated-gelu",
        "dropout_rate": 0.0,
    }
    T5EncoderModel(T5Config(**{**settings, **changes})).save_pretrained(folder)
    return folder


# --- progress --------------------------------------------------------------------------------------


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


def save_bert(folder: Path, texts: list[str]) -> Path:
    """A BERT of two small layers with a tokenizer trained on texts."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
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
    return folder
