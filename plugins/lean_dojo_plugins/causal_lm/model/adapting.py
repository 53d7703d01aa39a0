"""Add a LoRA adapter to a model, or report why it cannot be trained."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any, cast

import torch
from accelerate import init_empty_weights
from peft import LoraConfig, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils import CONFIG_NAME
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.training.hub import fetch, resolve_model
from lean_dojo_plugins.training.reporting import without_their_deprecations


def adapt(base: PreTrainedModel, lora: LoraConfig) -> PreTrainedModel:
    """Wrap a model so that an adapter of that kind trains, and nothing else.

    Raises:
        ConfigError: If the model has none of the modules, or the adapter would be lost: one on the
            output layer, whose weights the loss reads directly, or on embeddings tied to the output
            layer, since it cannot be merged into one of the two alone.
    """
    own = copy.deepcopy(lora)  # peft writes into the configuration that it is given
    own.task_type = own.task_type or "CAUSAL_LM"
    plain: Any = base
    words, output = plain.get_input_embeddings(), plain.get_output_embeddings()
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
    """Check whether a new adapter fits a model, using a model without weights.

    Args:
        name: Folder or hub id of the model.
        lora: The adapter's configuration.

    Raises:
        UsageError: If there is no model at that path.
        ConfigError: See :func:`adapt`.
        TrainingError: If the model's configuration cannot be read.
    """
    source = resolve_model(name)
    if (Path(source) / CONFIG_NAME).is_file():  # it trains on, and load_model compares the settings
        return
    config = fetch(AutoConfig.from_pretrained, source, what="model")
    with init_empty_weights(include_buffers=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training itself gives them
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
        empty.tie_weights()
        adapt(empty, lora)
