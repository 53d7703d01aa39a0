"""Teach a small model of random weights to read: language modelling on one library's proof steps.

A real project starts from a model that somebody has pretrained. The demo's model knows nothing, so
it first learns to predict every token of the training split's conversations, goals included, under
many names of their variables. Fine-tuning, which learns from tactics alone, then has something to
build upon. Nothing of a held-out theorem is in these texts.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
    set_seed,
)

from lean_dojo_plugins.causal_lm.formatters import ask
from lean_dojo_plugins.causal_lm.loading import choose_device
from lean_dojo_plugins.causal_lm.renaming import Step, renamed
from lean_dojo_plugins.causal_lm.reporting import bars_on_terminals_only, show_only_a_bar


def pretrain(
    model_path: Path,
    steps: Iterable[Step],
    output_dir: Path,
    *,
    max_steps: int,
    copies: int = 6,
    batch_size: int = 16,
    lr: float = 1.5e-3,
    seed: int = 0,
) -> Path:
    """Train a model on proof steps as text; every token carries loss.

    Args:
        model_path: The model's folder.
        steps: States and tactics of the training split.
        output_dir: Where to save the result; it is there as a whole or not at all.
        max_steps: Optimiser steps.
        copies: Other spellings of each step.
        batch_size: Conversations per optimiser step.
        lr: Peak learning rate; it falls linearly after a short rise.
        seed: Seed of the names and of the order.

    Returns:
        ``output_dir``.
    """
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(model_path)
    device = choose_device()
    arguments = TrainingArguments(
        output_dir=str(output_dir),
        max_steps=max_steps,
        per_device_train_batch_size=batch_size,
        learning_rate=lr,
        warmup_steps=max_steps // 20,
        weight_decay=0.1,
        adam_beta2=0.98,
        train_sampling_strategy="group_by_length",
        bf16=device.bf16,
        use_cpu=device.name == "cpu",
        save_strategy="no",
        logging_steps=20,
        seed=seed,
    )
    with bars_on_terminals_only():
        trainer = Trainer(
            model=AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32),
            args=arguments,
            train_dataset=_dataset(steps, tokenizer, copies, seed),
            data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
            processing_class=tokenizer,
        )
        show_only_a_bar(trainer)
        trainer.train()
        partial = output_dir.with_name(f"{output_dir.name}.partial")
        trainer.save_model(str(partial))
    shutil.rmtree(output_dir, ignore_errors=True)
    return partial.rename(output_dir)


def _dataset(steps: Iterable[Step], tokenizer: Any, copies: int, seed: int) -> Dataset:
    rng = random.Random(seed)
    texts: list[str] = []
    for step in steps:
        for state, tactic in [step, *renamed(step, copies, rng)]:
            turn = [*ask(state), {"role": "assistant", "content": tactic}]
            texts.append(tokenizer.apply_chat_template(turn, tokenize=False))
    ids = tokenizer(
        texts, add_special_tokens=False, truncation=True, max_length=tokenizer.model_max_length
    )["input_ids"]
    return Dataset.from_dict({"input_ids": ids, "length": [len(each) for each in ids]})
