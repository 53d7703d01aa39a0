"""Strict loading of the T5-type encoder."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForTextEncoding, PreTrainedModel

from lean_dojo_plugins.training.hub import fetch
from lean_dojo_v2.errors import CheckpointError

T5_TYPES = {"t5", "mt5", "umt5"}


def load_encoder(name: str) -> PreTrainedModel:
    """Load the encoder of a T5-type model with 32-bit weights.

    Args:
        name: A hub id or a local folder; of an encoder, or of a whole T5, whose decoder is
            then dropped.

    Raises:
        TrainingError: If it cannot be found (for example without a network).
        CheckpointError: If it is no T5-type model, or lacks a weight.
    """
    model, report = fetch(
        AutoModelForTextEncoding.from_pretrained,
        name,
        what="T5-type encoder",
        output_loading_info=True,
        dtype=torch.float32,
    )
    missing = sorted(report["missing_keys"]) + [str(key) for key in report["mismatched_keys"]]
    foreign = [
        key for key in report["unexpected_keys"] if not key.startswith(("decoder.", "lm_head."))
    ]
    odd = {"missing": missing, "unknown": foreign}
    if said := "; ".join(f"{what} {', '.join(keys[:3])}" for what, keys in odd.items() if keys):
        raise CheckpointError(
            f"{name} is not the encoder of a retriever: {said}. Give a T5-type encoder"
        )
    if model.config.model_type not in T5_TYPES:
        raise CheckpointError(
            f"{name} is a {model.config.model_type} model; the retriever needs a T5-type encoder "
            f"({', '.join(sorted(T5_TYPES))}), for example google/byt5-small"
        )
    return model  # type: ignore[no-any-return]


def build_encoder(config: dict[str, Any]) -> PreTrainedModel:
    """Build an encoder without weights, from the configuration that a checkpoint keeps."""
    settings = AutoConfig.for_model(**config)
    return AutoModelForTextEncoding.from_config(settings)  # type: ignore[no-any-return, no-untyped-call]
