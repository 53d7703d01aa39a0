"""What is known of a model without its adapter: its tokenizer, its base, whether it has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lean_dojo_plugins.causal_lm.text.templates import mend_template
from lean_dojo_plugins.training import fetch, fetch_tokenizer, resolve_model

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ADAPTER_FILE = "adapter_config.json"
"""The file that marks a folder as a LoRA adapter."""


def load_tokenizer(name: str | Path) -> PreTrainedTokenizerBase:
    """Load a tokenizer, and add a chat template and a padding token if it lacks them."""
    tokenizer = fetch_tokenizer(resolve_model(name))
    mend_template(tokenizer)
    return tokenizer


def is_adapter(name: str | Path) -> bool:
    """Whether a model's name means a folder with a LoRA adapter."""
    return (Path(resolve_model(name)) / ADAPTER_FILE).is_file()


def load_base(source: str, *, dtype: torch.dtype) -> PreTrainedModel:
    """Load the bare model of a folder or hub id in one type of weights."""
    from transformers import AutoModelForCausalLM

    load = AutoModelForCausalLM.from_pretrained
    return fetch(load, source, what="model", dtype=dtype)  # type: ignore[no-any-return]
