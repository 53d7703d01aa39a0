"""Teach a small model of random weights to read: language modelling on one library's proof steps.

A real project starts from a model that somebody has pretrained. The demo's model knows nothing, so
it first learns to predict every token of the training split's conversations, goals included, under
many names of their variables: what is copied from where it learns from the goals, which are ten
times as long as the tactics. Nothing of a held-out theorem is in these texts.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import torch
from datasets import Dataset
from torch.nn import functional
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
    set_seed,
)

from lean_dojo_core import Theorem
from lean_dojo_plugins.causal_lm.text.renaming import RenamedTacticChat
from lean_dojo_plugins.causal_lm.text.tokenisation import IGNORED, Tokeniser
from lean_dojo_plugins.demo.muon import MuonWithAdamW
from lean_dojo_plugins.training.devices import choose_device
from lean_dojo_plugins.training.reporting import bars_on_terminals_only, show_only_a_bar
from lean_dojo_plugins.training.run_folder import last_checkpoint

TACTIC_WEIGHT = 4.0
"""What a tactic's token weighs in the loss, beside 1 for a token of its goal."""
CHECKPOINTS = 8
"""How often a run is saved while it goes on."""


def pretrain(
    model_path: Path,
    theorems: Iterable[Theorem],
    output_dir: Path,
    *,
    max_steps: int,
    batch_size: int = 16,
    lr: float = 1.5e-3,
    seed: int = 0,
) -> Path:
    """Train a model on proof steps as text; every token carries loss.

    Args:
        model_path: The model's folder.
        theorems: The training split.
        output_dir: Where to save the result; it is there as a whole or not at all. Checkpoints
            lie beside it, in ``….partial``, until then: the same call goes on from the last one.
        max_steps: Optimiser steps.
        batch_size: Conversations per optimiser step.
        lr: Peak learning rate; it falls linearly after a short rise.
        seed: Seed of the order.

    Returns:
        ``output_dir``.
    """
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(model_path)
    device = choose_device()
    # The trainer makes its folder at once; a folder named ``output_dir`` holds a finished model.
    partial = output_dir.with_name(f"{output_dir.name}.partial")
    arguments = TrainingArguments(
        output_dir=str(partial),
        max_steps=max_steps,
        per_device_train_batch_size=batch_size,
        learning_rate=lr,
        warmup_steps=max_steps // 20,
        weight_decay=0.1,
        train_sampling_strategy="group_by_length",
        remove_unused_columns=False,
        bf16=device.bf16,
        use_cpu=device.name == "cpu",
        save_steps=max(1, max_steps // CHECKPOINTS),
        save_total_limit=1,
        logging_steps=20,
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        seed=seed,
    )
    with bars_on_terminals_only():
        trainer = _Reader(
            model=AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32),
            args=arguments,
            train_dataset=_dataset(theorems, tokenizer),
            data_collator=_Collator(tokenizer.pad_token_id),
            processing_class=tokenizer,
        )
        show_only_a_bar(trainer)
        checkpoint = last_checkpoint(partial, processes=1)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        trainer.save_model(str(partial))
    for folder in partial.glob("checkpoint-*"):
        shutil.rmtree(folder)
    return partial.rename(output_dir)


class _Reader(Trainer):
    """A trainer whose loss is a weighted mean over all tokens, with Muon."""

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        if self.optimizer is None:
            assert self.model is not None
            self.optimizer = MuonWithAdamW(
                model or self.model, self.args.learning_rate, self.args.weight_decay
            )
        return self.optimizer

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,  # noqa: ARG002
    ) -> Any:
        weights = inputs.pop("weights")[:, 1:]
        outputs = model(**inputs)
        losses = functional.cross_entropy(
            outputs.logits[:, :-1].float().transpose(1, 2),
            inputs["input_ids"][:, 1:],
            reduction="none",
        )
        loss = (losses * weights).sum() / weights.sum()
        return (loss, outputs) if return_outputs else loss


@attrs.frozen
class _Collator:
    """Pads on the right; padding weighs nothing."""

    pad_token_id: int

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        width = max(len(row["input_ids"]) for row in rows)
        ids = torch.full((len(rows), width), self.pad_token_id)
        weights = torch.zeros(len(rows), width)
        for number, row in enumerate(rows):
            length = len(row["input_ids"])
            ids[number, :length] = torch.tensor(row["input_ids"])
            is_tactic = torch.tensor(row["labels"]) != IGNORED
            weights[number, :length] = torch.where(is_tactic, TACTIC_WEIGHT, 1.0)
        return {"input_ids": ids, "attention_mask": (weights > 0).long(), "weights": weights}


def _dataset(theorems: Iterable[Theorem], tokenizer: PreTrainedTokenizerBase) -> Dataset:
    formatter = RenamedTacticChat()
    rows = (row for theorem in theorems for row in formatter.rows(theorem))
    examples = list(Tokeniser(tokenizer, tokenizer.model_max_length).examples(rows))
    return Dataset.from_dict(
        {
            "input_ids": [example.input_ids for example in examples],
            "labels": [example.labels for example in examples],
            "length": [len(example.input_ids) for example in examples],
        }
    )
