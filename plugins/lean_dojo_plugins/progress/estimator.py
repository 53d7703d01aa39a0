"""A trained progress model in proof search."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding

from lean_dojo_plugins.progress.dataset import encode
from lean_dojo_plugins.training import choose_device, chunks, fetch, trained_settings
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.lean_progress import progress_text
from lean_dojo_v2.prover import Step

Array: TypeAlias = "np.ndarray[Any, Any]"

MAX_LENGTH = 512
"""Maximum input length if neither the training nor the tokenizer has a limit."""

_NO_LIMIT = 1 << 20  # transformers writes 1e30 if a tokenizer has none


class ProgressModel:
    """Predicts how many steps of a proof remain, with a model of ``ProgressTrainer``.

    ``max_length``, in tokens, is by default the training's, which the model's folder records.
    CheckpointError if the folder holds no such model.
    """

    batch_size = 32
    """Inputs that go through the model at once."""

    def __init__(
        self, path: str | Path, *, max_length: int | None = None, device: str = "auto"
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
                "progress model, which has one output"
            )
        self._model = model.to(self._device).eval()
        trained: Any = trained_settings(Path(path)).get("max_length")
        said = self._tokenizer.model_max_length
        if said > _NO_LIMIT:
            said = MAX_LENGTH
        self.max_length: int = max_length or trained or said

    def predict(self, steps: Sequence[Step]) -> list[float]:
        """Estimate how many steps remain after each step, at least 0."""
        if not steps:
            return []
        texts = [progress_text(*step[:3]) for step in steps]
        return [max(0.0, float(value)) for value in self.outputs(texts)]

    @torch.inference_mode()
    def outputs(self, texts: Sequence[str]) -> Array:
        """Return the output for each input, in steps, ``(n,)``; in batches of similar length."""
        columns = encode(texts, self._tokenizer, self.max_length)
        order = sorted(range(len(texts)), key=lambda i: len(columns["input_ids"][i]))
        collate = DataCollatorWithPadding(self._tokenizer)
        result = np.zeros(len(texts))
        for chosen in chunks(order, self.batch_size):
            rows = [{name: values[i] for name, values in columns.items()} for i in chosen]
            batch = {name: tensor.to(self._device) for name, tensor in collate(rows).items()}
            result[chosen] = self._model(**batch).logits[:, 0].float().cpu().numpy()
        return result


def measures(predicted: Any, actual: Any) -> dict[str, float]:
    """Compare predicted with actual steps, each of shape ``(n,)`` or ``(n, 1)``.

    ``mse`` is in steps squared, ``mae`` in steps; ``within_one`` is the share of examples whose
    prediction is at most one step off (the accuracy of LeanProgress).

    >>> measures([[0.0], [3.0]], [1, 1])
    {'mse': 2.5, 'mae': 1.5, 'within_one': 0.5}
    """
    given = (np.asarray(values, dtype=float).reshape(-1) for values in (predicted, actual))
    error = np.abs(np.subtract(*given))
    return {
        "mse": float(np.mean(error**2)),
        "mae": float(np.mean(error)),
        "within_one": float(np.mean(error <= 1)),
    }
