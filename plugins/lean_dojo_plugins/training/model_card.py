"""The model card: description, training data, settings and versions."""

import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from lean_dojo_core import registry
from lean_dojo_plugins.training.hub import looks_like_path
from lean_dojo_plugins.training.reporting import PICTURE_FILE
from lean_dojo_plugins.training.run_folder import FinishedStep
from lean_dojo_v2.prover import model_named
from lean_dojo_v2.runs import METRICS_FILE

_LIBRARIES = ("lean-dojo-v2", "torch", "transformers", "trl", "peft", "accelerate", "datasets")


def write_model_card(folder: Path, trainer: Any, steps: Sequence[FinishedStep]) -> None:
    """Write ``README.md`` beside a model that a trainer has trained on these repositories.

    The trainer has ``model_name``, ``settings()``, and ``card()``, which returns ``title`` (the
    words before the name of the start model), ``does``, ``library``, ``task`` and ``formatter``.
    """
    settings, card = _without_paths(trainer.settings()), trainer.card()
    formatter = registry.dataset_formatters[card["formatter"]]
    name = trainer.model_name
    is_local = looks_like_path(name) or Path(model_named(name)).exists()
    settings["model_name"] = Path(name).name if is_local else name  # no local paths
    front = ["---", f"library_name: {card['library']}"]
    if not is_local:
        front.append(f"base_model: {name}")
    tags = "tags: [lean4, theorem-proving, lean-dojo]"
    front += [f"pipeline_tag: {card['task']}", tags, "---"]
    total = sum(step.optimizer_steps for step in steps)
    lines = [
        *front,
        "",
        f"# {card['title']} {settings['model_name']}",
        "",
        card["does"],
        f"Trained by `{type(trainer).__name__}` for {total} optimiser steps.",
        "",
        f"![loss]({PICTURE_FILE})",
        "",
        f"Every logged number is in `{METRICS_FILE}`.",
        "",
        "## Data",
        "",
        "Each row was trained together with all rows above it.",
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


def _without_paths(value: Any) -> Any:
    """Reduce absolute paths in plain settings to their last parts."""
    if isinstance(value, Mapping):
        return {key: _without_paths(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_paths(one) for one in value]
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value
