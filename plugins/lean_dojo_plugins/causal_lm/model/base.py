"""The transformers model inside wrappers."""

from __future__ import annotations

from typing import Any, cast

from transformers import PreTrainedModel


def base_of(model: Any) -> PreTrainedModel:
    """Return the transformers model inside a PEFT model, or the model itself."""
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    return cast("PreTrainedModel", inner)
