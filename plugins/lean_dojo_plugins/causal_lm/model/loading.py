"""Load a causal language model and its tokenizer for training, in suitable precision.

Precision. AdamW on bfloat16 *weights* at usual learning rates hardly learns: an update is smaller
than half the distance to the next bfloat16 number and is rounded away. So the weights that are
trained (all of them, or the LoRA adapter) are float32, and the arithmetic runs in bfloat16
(autocast) on devices that support it: GPUs, and CPUs with AVX-512-bf16 or AMX. The frozen
base under a LoRA adapter is held in bfloat16 there.
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

from lean_dojo_core import Message
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.text.templates import mend_template
from lean_dojo_plugins.causal_lm.text.tokenisation import encode
from lean_dojo_plugins.training.devices import Device, choose_device
from lean_dojo_plugins.training.hub import fetch, fetch_tokenizer, resolve_model
from lean_dojo_plugins.training.reporting import without_their_deprecations
from lean_dojo_v2.errors import CheckpointError, TrainingError

if TYPE_CHECKING:
    from peft import LoraConfig

ADAPTER_FILE = "adapter_config.json"
_FIXED_BY_ADAPTER = (
    "r", "lora_alpha", "target_modules", "lora_dropout", "use_rslora", "use_dora", "bias",
)  # fmt: skip


def load_tokenizer(name: str | Path) -> PreTrainedTokenizerBase:
    """Load a tokenizer, and add a chat template and a padding token if it lacks them.

    Raises:
        UsageError: If there is none at that path.
        TrainingError: If the hub does not give it, it can neither pad nor end, or its chat template
            renders no question and answer.
    """
    tokenizer = fetch_tokenizer(resolve_model(name))
    mend_template(tokenizer)
    return tokenizer


def load_model(
    name: str | Path,
    *,
    lora: LoraConfig | None = None,
    device: Device | None = None,
) -> PreTrainedModel:
    """Load a model for training, ready to learn (see the module's text for precisions).

    ``name`` may be a folder, a hub id, or a folder with a LoRA adapter: the adapter is merged into
    its base, unless ``lora`` is given, when it trains on.
    With ``lora`` an adapter of that kind trains, and nothing else.

    Raises:
        UsageError: If there is no model at that path.
        TrainingError: If the hub does not give it, or it cannot be read.
        ConfigError: If such an adapter cannot be trained on it.
    """
    device = device or choose_device()
    source = resolve_model(name)
    if lora is None:
        return _load_merged(source, torch.float32)
    if is_adapter(source):
        from peft import PeftModel

        base = load_base(base_of_adapter(source), dtype=device.frozen_dtype)
        with without_their_deprecations():
            wrapped = PeftModel.from_pretrained(base, source, is_trainable=True)
        _check_same_adapter(wrapped.peft_config["default"], lora, source)
        return cast("PreTrainedModel", wrapped)
    from lean_dojo_plugins.causal_lm.model.adapting import adapt

    return adapt(load_base(source, dtype=device.frozen_dtype), lora)


def match_vocabulary(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let a tokenizer pad with a token that the model has; padding is never read.

    Raises:
        TrainingError: If a conversation needs tokens that the model does not have.
    """
    embeddings: Any = model.get_input_embeddings()
    known = embeddings.weight.shape[0]
    if cast("int", tokenizer.pad_token_id) >= known and tokenizer.eos_token is not None:
        tokenizer.pad_token = tokenizer.eos_token
    turns: list[Message] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "x"},
    ]
    (ids,) = encode(tokenizer, [turns], ask=False)
    if (unknown := max([*ids, cast("int", tokenizer.pad_token_id)])) >= known:
        token = tokenizer.convert_ids_to_tokens(unknown)
        raise TrainingError(
            f"{tokenizer.name_or_path}: its tokenizer writes {token!r} (number {unknown}), but the "
            f"model has {known} tokens only; use the model's own tokenizer, or resize the model"
        )


def is_adapter(name: str | Path) -> bool:
    """Whether a model's name means a folder with a LoRA adapter."""
    return (Path(resolve_model(name)) / ADAPTER_FILE).is_file()


def load_for_inference(name: str | Path, device: Device) -> PreTrainedModel:
    """Load a model, or a LoRA adapter merged into its base, in the device's precision.

    Raises:
        UsageError: If there is no model at that path.
        TrainingError: If the hub does not give it, or it cannot be read.
        CheckpointError: If an adapter's base no longer exists.
    """
    model: torch.nn.Module = _load_merged(resolve_model(name), device.frozen_dtype)
    return cast("PreTrainedModel", model.to(device.name).eval())


def load_outline(name: str | Path) -> PreTrainedModel:
    """Make a model without weights, from its configuration.

    Raises:
        UsageError: If there is no model at that path.
        TrainingError: If the hub does not give it, or it cannot be read.
        CheckpointError: If an adapter's base no longer exists.
    """
    source = resolve_model(name)
    folder = base_of_adapter(source) if is_adapter(source) else source
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
    from peft import PeftModel

    base = load_base(base_of_adapter(source), dtype=dtype)
    with without_their_deprecations():
        wrapped = PeftModel.from_pretrained(base, source)
    merged = cast("PreTrainedModel", wrapped.merge_and_unload())
    merged.requires_grad_(True)
    return merged


def load_base(source: str, *, dtype: torch.dtype) -> PreTrainedModel:
    """Load the bare model of a folder or hub id in one type of weights.

    Raises:
        TrainingError: If it is not there or cannot be read.
    """
    load = AutoModelForCausalLM.from_pretrained
    return fetch(load, source, what="model", dtype=dtype)  # type: ignore[no-any-return]


def describe_parameters(model: Any) -> str:
    """Describe how many parameters train.

    >>> describe_parameters(torch.nn.Linear(10, 10))
    'trainable parameters: 110 of 110 (100.00 %)'
    """
    total = sum(parameter.numel() for parameter in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return f"trainable parameters: {trained:,} of {total:,} ({100 * trained / max(total, 1):.2f} %)"


def base_of(model: Any) -> PreTrainedModel:
    """Return the transformers model inside a PEFT model, or the model itself."""
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    return cast("PreTrainedModel", inner)


def base_of_adapter(folder: str) -> str:
    """Return the folder or hub id of the model that an adapter was trained on.

    Raises:
        CheckpointError: If it no longer exists.
    """
    from peft import PeftConfig

    base = PeftConfig.from_pretrained(folder).base_model_name_or_path
    try:
        return resolve_model(base)
    except UsageError as error:
        raise CheckpointError(
            f"{folder}: its adapter was trained on the model {base}, which no longer exists; put "
            f"it back, or correct base_model_name_or_path in {ADAPTER_FILE}"
        ) from error


def _check_same_adapter(found: Any, wanted: LoraConfig, folder: str) -> None:
    for key in _FIXED_BY_ADAPTER:
        ours, theirs = getattr(wanted, key), getattr(found, key)
        if ours is None:  # peft fills in the architecture's usual modules
            continue
        if isinstance(ours, str) or isinstance(theirs, str):
            same = ours == theirs
        else:
            same = set(ours) == set(theirs) if key == "target_modules" else ours == theirs
        if not same:
            raise UsageError(
                f"lora_config.{key} = {ours!r}, but the adapter in {folder} has {theirs!r}; use "
                "the same values to train it on, or merge it into its base model first"
            )
