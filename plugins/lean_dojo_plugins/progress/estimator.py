"""A trained progress model in proof search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
)

from lean_dojo_core.errors import CheckpointError
from lean_dojo_plugins.progress.dataset import encode
from lean_dojo_plugins.training.devices import choose_device
from lean_dojo_plugins.training.hub import fetch
from lean_dojo_v2.lean_progress.examples import progress_text
from lean_dojo_v2.prover.suggestion import Step


class ProgressModel:
    """Predicts remaining steps with a model that ``ProgressTrainer`` saved.

    Args:
        path: Its folder.
        max_length: Tokens of an input at most.
        batch_size: Examples per batch.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.

    Raises:
        CheckpointError: If the folder holds no such model.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_length: int = 512,
        batch_size: int = 32,
        device: str = "auto",
    ) -> None:
        if not (Path(path) / "config.json").exists():
            raise CheckpointError(
                f"{path}: no progress model is there (LEANPROGRESS_MODEL names the output_dir of a "
                "ProgressTrainer)"
            )
        self._device = choose_device(device).name
        self._tokenizer = fetch(AutoTokenizer.from_pretrained, str(path), what="tokenizer")
        model = fetch(AutoModelForSequenceClassification.from_pretrained, str(path), what="model")
        if model.config.num_labels != 1:
            raise CheckpointError(
                f"{path}: this is a classifier with {model.config.num_labels} labels, not a "
                "progress model with one output"
            )
        self._model = model.to(self._device).eval()
        self._max_length = max_length
        self._batch_size = batch_size

    @torch.inference_mode()
    def predict(self, steps: Sequence[Step]) -> list[float]:
        """Estimate how many steps remain after each; its input is the documented one of training.

        Batches hold inputs of similar length, so that little is computed on padding.
        """
        if not steps:
            return []
        texts = [progress_text(before, prefix, tactic) for before, prefix, tactic, *_ in steps]
        columns = encode(texts, self._tokenizer, self._max_length)
        rows = [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
        collate = DataCollatorWithPadding(self._tokenizer)
        result = [0.0] * len(rows)
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            padded = collate([rows[i] for i in chosen])
            batch = {name: tensor.to(self._device) for name, tensor in padded.items()}
            values = self._model(**batch).logits[:, 0].tolist()
            for index, value in zip(chosen, values, strict=True):
                result[index] = value
        return result
