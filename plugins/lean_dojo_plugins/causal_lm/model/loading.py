"""Load a causal language model and its tokenizer, in suitable precision.

Precision. AdamW on bfloat16 *weights* at usual learning rates hardly learns: an update is smaller
than half the distance to the next bfloat16 number and is rounded away. So the weights that are
trained (all of them, or the LoRA adapter) are float32, and the arithmetic runs in bfloat16
(autocast) on devices that support it: GPUs, and CPUs with AVX-512-bf16 or AMX. The frozen
base under a LoRA adapter is held in bfloat16 there.

peft takes a second to import, and most models that prove have no adapter: :mod:`.adapters` is
imported when one is loaded.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from lean_dojo_plugins.causal_lm.model.bases import is_adapter, load_base
from lean_dojo_plugins.causal_lm.text.templates import A_TURN
from lean_dojo_plugins.causal_lm.text.tokenisation import encode
from lean_dojo_plugins.training import Device, fetch, resolve_model
from lean_dojo_v2.errors import TrainingError

if TYPE_CHECKING:
    from peft import LoraConfig


def load_model(
    name: str | Path,
    *,
    lora: LoraConfig | None = None,
    device: Device,
) -> PreTrainedModel:
    """Load a model for training, ready to learn (see the module's text for precisions).

    The adapter of a LoRA adapter's folder is merged into its base. With ``lora`` an adapter of that
    kind trains, and nothing else; one that is there already trains on.
    """
    source = resolve_model(name)
    if lora is None:
        return _load_merged(source, torch.float32)
    from lean_dojo_plugins.causal_lm.model.adapters import adapt, load_same_adapter

    if is_adapter(source):
        return load_same_adapter(source, lora, device.frozen_dtype)
    return adapt(load_base(source, dtype=device.frozen_dtype), lora)


def match_vocabulary(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let a tokenizer pad with a token that the model has, or refuse it; padding is never read."""
    embeddings: Any = model.get_input_embeddings()
    known = embeddings.weight.shape[0]
    if cast("int", tokenizer.pad_token_id) >= known and tokenizer.eos_token is not None:
        tokenizer.pad_token = tokenizer.eos_token
    (ids,) = encode(tokenizer, [A_TURN], ask=False)
    if (unknown := max([*ids, cast("int", tokenizer.pad_token_id)])) >= known:
        token = tokenizer.convert_ids_to_tokens(unknown)
        raise TrainingError(
            f"{tokenizer.name_or_path}: its tokenizer writes {token!r} (number {unknown}), but the "
            f"model has {known} tokens only; use the model's own tokenizer, or resize the model"
        )


def load_for_inference(name: str | Path, device: Device) -> PreTrainedModel:
    """Load a model, or a LoRA adapter merged into its base, in the device's precision."""
    model: torch.nn.Module = _load_merged(resolve_model(name), device.frozen_dtype)
    return cast("PreTrainedModel", model.to(device.name).eval())


def load_outline(name: str | Path) -> PreTrainedModel:
    """Make a model without weights, from its configuration."""
    folder = resolve_model(name)
    if is_adapter(folder):
        from lean_dojo_plugins.causal_lm.model.adapters import base_of_adapter

        folder = base_of_adapter(folder)
    config = fetch(AutoConfig.from_pretrained, folder, what="model")
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    with suppress(OSError):  # not every model has its own
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model  # type: ignore[no-any-return]


def _load_merged(source: str, dtype: torch.dtype) -> PreTrainedModel:
    """Load a whole model: an adapter is merged into its base."""
    if not is_adapter(source):
        return load_base(source, dtype=dtype)
    from lean_dojo_plugins.causal_lm.model.adapters import load_merged_adapter

    return load_merged_adapter(source, dtype)


def base_of(model: Any) -> PreTrainedModel:
    """Return the transformers model inside a PEFT model, or the model itself."""
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    return cast("PreTrainedModel", inner)
