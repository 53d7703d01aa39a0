"""The model card: what the model is, what it has learnt from, with which settings and versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from lean_dojo_core import registry
from lean_dojo_plugins.training.reporting import PICTURE_FILE
from lean_dojo_plugins.training.run_folder import FinishedStep
from lean_dojo_v2.runs import metrics

if TYPE_CHECKING:
    from lean_dojo_plugins.causal_lm.trainer import CausalTrainer

_LIBRARIES = ("lean-dojo-v2", "torch", "transformers", "trl", "peft", "accelerate", "datasets")


def write_model_card(folder: Path, trainer: CausalTrainer, steps: Sequence[FinishedStep]) -> None:
    """Write ``README.md`` beside a model.

    Args:
        folder: The model's folder.
        trainer: What trained it.
        steps: The repositories that it has been trained on.
    """
    settings = trainer.settings()
    formatter = registry.dataset_formatters[trainer.formatter]
    base = Path(trainer.model_name)
    name = base.name if base.exists() else trainer.model_name  # no paths of this machine
    settings["model_name"] = name
    adapter = trainer.lora_config is not None
    front = ["---", f"library_name: {'peft' if adapter else 'transformers'}"]
    if not base.exists():
        front.append(f"base_model: {trainer.model_name}")
    front += ["pipeline_tag: text-generation", "tags: [lean4, theorem-proving, lean-dojo]", "---"]
    total = sum(step.optimizer_steps for step in steps)
    lines = [
        *front,
        "",
        f"# {'LoRA adapter for' if adapter else 'Fine-tuned from'} {name}",
        "",
        "Suggests the next tactic at a Lean 4 goal.",
        f"Trained by `{type(trainer).__name__}` for {total} optimiser steps.",
        "",
        f"![loss]({PICTURE_FILE})",
        "",
        f"Every logged number is in `{metrics.FILE}`.",
        "",
        "## Data",
        "",
        "Each row was trained on together with those above it.",
        "",
        "| repository | commit | rows of the merged set | optimiser steps |",
        "| --- | --- | ---: | ---: |",
        *(f"| {s.url} | `{s.commit[:12]}` | {s.rows} | {s.optimizer_steps} |" for s in steps),
        "",
        "## Settings",
        "",
        "```json",
        json.dumps(settings, indent=2, ensure_ascii=False),
        "```",
        "",
        "## Versions",
        "",
        f"Formatter: `{formatter.name}` of {formatter.distribution} {formatter.version}.",
        "",
        *(f"- {library} {metadata.version(library)}" for library in _LIBRARIES),
        "",
    ]
    (folder / "README.md").write_text("\n".join(lines), encoding="utf-8")
