"""LoRA adapters: make, load, check and merge them."""

import copy
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any, cast

import torch
from accelerate import init_empty_weights
from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins import training
from lean_dojo_plugins.causal_lm.model import bases
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.files import STATE_FILE

_FIXED_BY_ADAPTER = (
    "r", "lora_alpha", "target_modules", "lora_dropout", "use_rslora", "use_dora", "bias",
)  # fmt: skip


def load_same_adapter(source: str, lora: LoraConfig, dtype: torch.dtype) -> PreTrainedModel:
    """Load an adapter on its base to train it on; its settings must be those of ``lora``."""
    wrapped = _load_adapter(source, dtype, is_trainable=True)
    found = wrapped.peft_config["default"]
    for key in _FIXED_BY_ADAPTER:
        ours, theirs = (training.to_json_value(getattr(one, key)) for one in (lora, found))
        # Of None peft makes the architecture's usual modules.
        if ours is not None and ours != theirs:
            raise UsageError(
                f"lora_config.{key} = {ours!r}, but the adapter in {source} has {theirs!r}; use "
                "the same values to train it on, or merge it into its base model first"
            )
    return cast("PreTrainedModel", wrapped)


def load_merged_adapter(source: str, dtype: torch.dtype) -> PreTrainedModel:
    """Load an adapter merged into its base, all of whose weights may be trained."""
    merged = cast("PreTrainedModel", _load_adapter(source, dtype).merge_and_unload())
    merged.requires_grad_(True)
    return merged


def _load_adapter(source: str, dtype: torch.dtype, *, is_trainable: bool = False) -> Any:
    """Load the base of an adapter, and the adapter around it."""
    base = bases.load_base(base_of_adapter(source), dtype=dtype)
    with training.without_their_deprecations():
        return PeftModel.from_pretrained(base, source, is_trainable=is_trainable)


def base_of_adapter(folder: str) -> str:
    """Return the folder or hub id of the model that an adapter was trained on, which must exist."""
    base = PeftConfig.from_pretrained(folder).base_model_name_or_path
    try:
        return training.resolve_model(base)
    except UsageError as error:
        raise CheckpointError(
            f"{folder}: its adapter was trained on the model {base}, which no longer exists; put "
            f"it back, or correct base_model_name_or_path in {bases.ADAPTER_FILE}"
        ) from error


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
        with training.without_their_deprecations():
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
    if bases.is_adapter(name):  # it trains on, and loading compares the settings
        return
    config = training.fetch(AutoConfig.from_pretrained, training.resolve_model(name), what="model")
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
    if not (adapter / bases.ADAPTER_FILE).is_file():
        raise UsageError(f"{adapter}: is not a LoRA adapter: it has no {bases.ADAPTER_FILE}")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} already exists; name another folder with -o")
    base = base_of_adapter(str(adapter))
    found = training.fetch(AutoConfig.from_pretrained, base, what="model").dtype
    dtype = found if isinstance(found, torch.dtype) else torch.float32
    model: Any = load_merged_adapter(training.resolve_model(adapter), torch.float32)
    model.to(dtype)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent) as made:
        new = Path(made) / "model"
        model.save_pretrained(new)
        bases.load_tokenizer(adapter).save_pretrained(new)
        for name in KEPT:
            if (adapter / name).is_file():
                shutil.copy2(adapter / name, new / name)
        if (card := new / "README.md").is_file():  # it is a plain model now
            text = card.read_text(encoding="utf-8")
            text = text.replace("library_name: peft", "library_name: transformers", 1)
            text = text.replace("# LoRA adapter for", "# Merged LoRA adapter and", 1)
            card.write_text(text, encoding="utf-8")
        if output.is_dir():
            output.rmdir()
        new.rename(output)  # whole, or not there
    return str(dtype).removeprefix("torch.")
