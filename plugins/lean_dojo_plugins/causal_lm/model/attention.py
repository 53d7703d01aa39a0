"""Attention kinds: whether a model allows prompts shared by several completions."""

from __future__ import annotations

import inspect
from typing import Any

from lean_dojo_plugins.causal_lm.model.loading import base_of

FULL = "full_attention"
MASKED = {"sdpa", "eager"}
"""Attention implementations that accept a mask of any shape."""


def why_not_shared(model: Any) -> str | None:
    """Return why a model does not allow shared prompts; ``None`` if it does.

    A mask of our own is for plain attention over the whole sequence: no sliding windows, no
    recurrent or linear layers, no attention kernel that makes its own mask.
    """
    base = base_of(model)
    config = base.config.get_text_config()
    attention = config._attn_implementation  # noqa: SLF001 - transformers has no other name
    if attention not in MASKED:
        return f"its attention ({attention}) does not accept our mask"
    if "position_ids" not in inspect.signature(type(base).forward).parameters:
        return "it does not accept positions"
    layers = set(getattr(config, "layer_types", None) or [FULL])
    # Older configurations name a window, and no types of layers.
    windowed = layers == {FULL} and getattr(config, "sliding_window", None)
    if layers != {FULL} or windowed or getattr(config, "alibi", False):
        return "not all of its attention layers are plain"
    return None
