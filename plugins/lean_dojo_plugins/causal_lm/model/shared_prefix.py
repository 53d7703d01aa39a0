"""Compute once for a batch what all of its rows begin with.

Where the chat template writes it, every prompt begins with the same system prompt, a quarter of all
tokens. One row computes its keys and values, and the rows attend to those; gradients flow back
through them. That is the same sum in another order, so values and gradients are those of whole
rows, but for rounding (a test compares them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import DynamicCache, PreTrainedModel

from lean_dojo_plugins.causal_lm.model.attention import why_not_shared
from lean_dojo_plugins.causal_lm.model.base import base_of

SHORTEST = 8
"""Tokens that are worth the second call."""


def can_share_prefix(model: Any) -> bool:
    """Whether the rows of a batch may share what they begin with, and nothing changes by it.

    Not where each row draws its own dropout.
    """
    config = base_of(model).config.get_text_config()
    dropouts = (module.p for module in model.modules() if isinstance(module, torch.nn.Dropout))
    return (
        why_not_shared(model) is None
        and not getattr(config, "attention_dropout", 0.0)
        and not any(dropouts)
    )


def shared_length(model: PreTrainedModel, inputs: dict[str, Any], is_scored: torch.Tensor) -> int:
    """Count the tokens that a batch can compute once; 0 if it is not worth it.

    Args:
        model: The model. A layer that is computed twice (checkpointing) keeps no keys and values;
            that is known at the call only, for trainers switch it on as they begin.
        inputs: What the model is called with.
        is_scored: ``(batch, length - 1)``; whether what follows a token carries a label.
    """
    if model.is_activation_checkpointing or len(is_scored) < 2:
        return 0
    if inputs.keys() - {"input_ids", "attention_mask", "use_cache"}:
        return 0  # positions, images, a router's loss: not only a matter of tokens
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    equal = (ids == ids[:1]).all(0) & mask.bool().all(0)
    count = int((equal[:-1] & ~is_scored.any(0)).long().cumprod(0).sum())
    return count if count >= SHORTEST else 0


def after_prefix(
    model: PreTrainedModel, forward: Callable[..., Any], count: int, inputs: dict[str, Any]
) -> dict[str, Any]:
    """Compute the first ``count`` tokens once, and give the inputs of the call for the rest.

    ``inputs`` are ``input_ids`` and ``attention_mask``, ``(batch, length)``.
    """
    ids = inputs["input_ids"]
    cache = DynamicCache(config=model.config)
    forward(input_ids=ids[:1, :count], past_key_values=cache, use_cache=True, logits_to_keep=1)
    cache.batch_repeat_interleave(len(ids))
    return {
        "input_ids": ids[:, count:],
        "attention_mask": inputs["attention_mask"],
        "position_ids": torch.arange(count, ids.shape[1], device=ids.device)[None],
        "past_key_values": cache,
        "use_cache": True,
    }
