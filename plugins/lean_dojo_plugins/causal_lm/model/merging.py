"""Merge a LoRA adapter into its base model, for tools that load plain models only."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.model.loading import (
    ADAPTER_FILE,
    base_of_adapter,
    load_model,
    load_tokenizer,
)
from lean_dojo_plugins.training.devices import choose_device
from lean_dojo_plugins.training.hub import fetch
from lean_dojo_v2.runs.files import STATE_FILE

KEPT = (STATE_FILE, "metrics.jsonl", "evaluation.json", "README.md")
"""Files of the run that still apply to the merged model."""


def merge_lora(adapter: Path, output: Path) -> str:
    """Merge an adapter into its base model, in a new folder that gets the tokenizer, too.

    The sum is computed in float32 and saved in the base's type.

    Returns:
        The type of the saved weights, for example ``"bfloat16"``.

    Raises:
        UsageError: If there is no adapter, or ``output`` exists.
        CheckpointError: If the base model no longer exists.
        TrainingError: If the hub does not give it.
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
