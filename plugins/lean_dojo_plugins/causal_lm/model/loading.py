"""Load a causal language model and its tokenizer, in suitable precision; LoRA adapters.

Precision. AdamW on bfloat16 *weights* at usual learning rates hardly learns: an update is smaller
than half the distance to the next bfloat16 number and is rounded away. So the weights that are
trained (all of them, or the LoRA adapter) are float32, and the arithmetic runs in bfloat16
(autocast) on devices that support it: GPUs, and CPUs with AVX-512-bf16 or AMX. The frozen
base under a LoRA adapter is held in bfloat16 there.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import torch
from accelerate import init_empty_weights
from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.text.templates import A_TURN, mend_template
from lean_dojo_plugins.causal_lm.text.tokenisation import encode
from lean_dojo_plugins.training.devices import Device, choose_device
from lean_dojo_plugins.training.hub import fetch, fetch_tokenizer, resolve_model
from lean_dojo_plugins.training.reporting import without_their_deprecations
from lean_dojo_plugins.training.settings import plain
from lean_dojo_v2.errors import CheckpointError, TrainingError
from lean_dojo_v2.runs.files import STATE_FILE

ADAPTER_FILE = "adapter_config.json"
_FIXED_BY_ADAPTER = (
    "r", "lora_alpha", "target_modules", "lora_dropout", "use_rslora", "use_dora", "bias",
)  # fmt: skip


def load_tokenizer(name: str | Path) -> PreTrainedTokenizerBase:
    """Load a tokenizer, and add a chat template and a padding token if it lacks them."""
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
    """
    device = device or choose_device()
    source = resolve_model(name)
    if lora is None:
        return _load_merged(source, torch.float32)
    if not is_adapter(source):
        return adapt(load_base(source, dtype=device.frozen_dtype), lora)
    wrapped = _load_adapter(source, device.frozen_dtype, is_trainable=True)
    _check_same_adapter(wrapped.peft_config["default"], lora, source)
    return cast("PreTrainedModel", wrapped)


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


def is_adapter(name: str | Path) -> bool:
    """Whether a model's name means a folder with a LoRA adapter."""
    return (Path(resolve_model(name)) / ADAPTER_FILE).is_file()


def load_for_inference(name: str | Path, device: Device) -> PreTrainedModel:
    """Load a model, or a LoRA adapter merged into its base, in the device's precision."""
    model: torch.nn.Module = _load_merged(resolve_model(name), device.frozen_dtype)
    return cast("PreTrainedModel", model.to(device.name).eval())


def load_outline(name: str | Path) -> PreTrainedModel:
    """Make a model without weights, from its configuration."""
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
    merged = cast("PreTrainedModel", _load_adapter(source, dtype).merge_and_unload())
    merged.requires_grad_(True)
    return merged


def _load_adapter(source: str, dtype: torch.dtype, *, is_trainable: bool = False) -> Any:
    """Load the base of an adapter, and the adapter around it."""
    base = load_base(base_of_adapter(source), dtype=dtype)
    with without_their_deprecations():
        return PeftModel.from_pretrained(base, source, is_trainable=is_trainable)


def load_base(source: str, *, dtype: torch.dtype) -> PreTrainedModel:
    """Load the bare model of a folder or hub id in one type of weights."""
    load = AutoModelForCausalLM.from_pretrained
    return fetch(load, source, what="model", dtype=dtype)  # type: ignore[no-any-return]


def base_of(model: Any) -> PreTrainedModel:
    """Return the transformers model inside a PEFT model, or the model itself."""
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    return cast("PreTrainedModel", inner)


def base_of_adapter(folder: str) -> str:
    """Return the folder or hub id of the model that an adapter was trained on, which must exist."""
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
        ours, theirs = plain(getattr(wanted, key)), plain(getattr(found, key))
        # Of None peft makes the architecture's usual modules.
        if ours is not None and ours != theirs:
            raise UsageError(
                f"lora_config.{key} = {ours!r}, but the adapter in {folder} has {theirs!r}; use "
                "the same values to train it on, or merge it into its base model first"
            )


def adapt(base: PreTrainedModel, lora: LoraConfig) -> PreTrainedModel:
    """Wrap a model so that an adapter of that kind trains, and nothing else.

    Refuses a model without any of the modules, and an adapter that would be lost: one on the output
    layer, whose weights the loss reads directly, or on embeddings tied to the output layer, since
    it cannot be merged into one of the two alone.
    """
    own = copy.deepcopy(lora)  # peft writes into the configuration that it is given
    own.task_type = own.task_type or "CAUSAL_LM"
    bare: Any = base
    words, output = bare.get_input_embeddings(), bare.get_output_embeddings()
    tied = output is not None and words.weight is output.weight
    try:
        with without_their_deprecations():
            wrapped: Any = get_peft_model(base, own)
    except (ValueError, TypeError, KeyError, RuntimeError) as error:
        raise ConfigError(f"lora_config: {' '.join(str(error).split())}") from error
    model = wrapped.get_base_model()
    now_words, now_output = model.get_input_embeddings(), model.get_output_embeddings()
    if tied and (now_words is not words or now_output is not output):
        raise ConfigError(
            "lora_config: it trains the embeddings or the output layer (lm_head), but in this "
            "model the two share their weights, so that the result could not be merged; name other "
            "modules in target_modules, modules_to_save and trainable_token_indices"
        )
    if isinstance(now_output, BaseTunerLayer):
        raise ConfigError(
            "lora_config: the loss reads the weights of the output layer (lm_head) directly, so "
            "its adapter would not be trained; take it out of target_modules (modules_to_save "
            "trains it as a whole)"
        )
    return cast("PreTrainedModel", wrapped)


def check_lora(name: str, lora: LoraConfig) -> None:
    """Check whether a new adapter fits a model, using a model without weights."""
    if is_adapter(name):  # it trains on, and load_model compares the settings
        return
    config = fetch(AutoConfig.from_pretrained, resolve_model(name), what="model")
    with init_empty_weights(include_buffers=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training itself gives them
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
        empty.tie_weights()
        adapt(empty, lora)


KEPT = (STATE_FILE, "metrics.jsonl", "evaluation.json", "README.md")
"""Files of the run that still apply to the merged model."""


def merge_lora(adapter: Path, output: Path) -> str:
    """Merge an adapter into its base model, in a new folder that gets the tokenizer, too.

    The sum is computed in float32 and saved in the base's type, whose name is returned.
    """
    if not (adapter / ADAPTER_FILE).is_file():
        raise UsageError(f"{adapter}: is not a LoRA adapter: it has no {ADAPTER_FILE}")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} already exists; name another folder with -o")
    base = base_of_adapter(str(adapter))
    config: Any = fetch(AutoConfig.from_pretrained, base, what="model")
    dtype = config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32
    model: Any = load_model(adapter, device=choose_device("cpu"))
    model.to(dtype)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent) as made:
        new = Path(made) / "model"
        model.save_pretrained(new)
        load_tokenizer(adapter).save_pretrained(new)
        for name in KEPT:
            if (adapter / name).is_file():
                shutil.copy2(adapter / name, new / name)
        _correct_card(new / "README.md")
        if output.is_dir():
            output.rmdir()
        new.rename(output)  # whole, or not there
    return str(dtype).removeprefix("torch.")


def _correct_card(card: Path) -> None:
    """Correct the model card: it is a plain model now."""
    if card.is_file():
        text = card.read_text(encoding="utf-8")
        text = text.replace("library_name: peft", "library_name: transformers", 1)
        text = text.replace("# LoRA adapter for", "# Merged LoRA adapter and", 1)
        card.write_text(text, encoding="utf-8")
