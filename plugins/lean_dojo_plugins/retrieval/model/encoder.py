"""Strict loading of the T5-type encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForTextEncoding, PreTrainedModel

from lean_dojo_plugins.training.hub import hub_options
from lean_dojo_plugins.training.reporting import bars_on_terminals_only
from lean_dojo_v2.errors import CheckpointError

T5_TYPES = {"t5", "mt5", "umt5"}


def load_encoder(name: str) -> PreTrainedModel:
    """Load the encoder of a T5-type model with 32-bit weights.

    Args:
        name: A hub id or a local folder; of an encoder, or of a whole T5, whose decoder is
            then dropped.

    Raises:
        CheckpointError: If it cannot be found (for example without a network), is no T5-type
            model, or lacks a weight.
    """
    try:
        with bars_on_terminals_only():
            model, report = AutoModelForTextEncoding.from_pretrained(
                name, output_loading_info=True, dtype=torch.float32, **hub_options(name)
            )
    except (OSError, ValueError) as error:
        raise CheckpointError(_not_loaded(name, error)) from error
    missing = sorted(report["missing_keys"]) + [str(key) for key in report["mismatched_keys"]]
    foreign = [
        key for key in report["unexpected_keys"] if not key.startswith(("decoder.", "lm_head."))
    ]
    if missing or foreign:
        raise CheckpointError(
            f"{name} is not the encoder of a retriever: {_list('missing', missing)}"
            f"{_list('unknown', foreign)}. Give a T5-type encoder"
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


def _not_loaded(name: str, error: Exception) -> str:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if Path(name).exists():
        return f"{name} cannot be loaded as a T5-type encoder: {reason}"
    return (
        f"the model {name!r} cannot be loaded: {reason} Without a network, give a local folder or "
        "a checkpoint (model_name), or put the model into the Hugging Face cache first"
    )


def _list(what: str, keys: list[str]) -> str:
    if not keys:
        return ""
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return f"{what} {', '.join(keys[:3])}{more}; "
