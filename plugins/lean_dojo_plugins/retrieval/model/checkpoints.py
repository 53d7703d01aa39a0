"""Checkpoints on disk: finding them, and writing the final one of a repository.

Truncated files are skipped with a warning.
"""

from __future__ import annotations

import logging
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from lean_dojo_plugins.retrieval.model.ewc import Consolidation
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever, read_checkpoint
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.lean_agent.config import TrainingConfig

log = logging.getLogger(__name__)

LAST = "last.ckpt"
FINISHED = "finished"
_RECALL = re.compile(r"Recall@10_val=(\d+(?:\.\d+)?)")
_TRAINING_ONLY = ("optimizer_states", "lr_schedulers", "loops", "callbacks", "MixedPrecision")
_TOKENIZER_FILES = ("tokenizer_config.json", "tokenizer.json", "spiece.model")


def find_latest(folder: Path) -> Path | None:
    """Return the checkpoint that was saved last in a folder or below it, ``None`` without any."""
    found = [path for path in folder.rglob("*.ckpt") if path.is_file()]
    found.sort(key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    return _first_whole(found)


def find_best(folder: Path) -> Path | None:
    """Return the checkpoint with the highest ``Recall@10_val`` in its name.

    The newest among equals. If no name has a recall, the latest checkpoint; ``None`` if there is
    none.
    """
    scored = [
        (recall, path.stat().st_mtime_ns, path)
        for path in folder.rglob("*.ckpt")
        if (recall := recall_in_name(path)) is not None
    ]
    best = _first_whole(path for *_, path in sorted(scored, reverse=True))
    return find_latest(folder) if best is None else best


def is_whole(path: Path) -> bool:
    """Tell whether a checkpoint is complete, without reading its weights.

    It is a zip archive, whose directory comes last, so a truncated file has none.
    """
    try:
        zipfile.ZipFile(path).close()
    except (zipfile.BadZipFile, OSError):
        try:
            read_checkpoint(path)  # PyTorch before 1.6 wrote no archive
        except CheckpointError:
            return False
    return True


def _first_whole(paths: Iterable[Path]) -> Path | None:
    for path in paths:
        if is_whole(path):
            return path
        log.warning("%s is skipped: it is damaged, perhaps cut off by a kill; delete it", path)
    return None


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of checkpoints that were being written when a run was killed."""
    for leftover in folder.glob(".*.ckpt.*.tmp"):
        leftover.unlink()


def recall_in_name(path: Path) -> float | None:
    """Read the validation recall (percent) from a checkpoint's name.

    >>> recall_in_name(Path("epoch=0-Recall@10_val=41.6667.ckpt"))
    41.6667
    """
    match = _RECALL.search(path.name)
    return float(match.group(1)) if match else None


def find_finished(folder: Path) -> Path | None:
    """Return the final checkpoint of a finished step."""
    return max(folder.glob(f"{FINISHED}*.ckpt"), default=None)


def load_frozen(name: Path | str, device: torch.device | str, **settings: Any) -> PremiseRetriever:
    """Load a model for inference: a checkpoint file, or an encoder from a folder or the hub.

    Args:
        name: The file, folder or hub id. A checkpoint records its settings and tokenizer; a
            folder's own tokenizer is used; otherwise ByT5's.
        device: Where to put it.
        **settings: Constructor arguments of a model that is not a checkpoint.

    Raises:
        CheckpointError: If it cannot be loaded.
    """
    if Path(name).suffix == ".ckpt" or Path(name).is_file():
        return PremiseRetriever.load(name, device)
    if any((Path(name) / file).is_file() for file in _TOKENIZER_FILES):
        settings.setdefault("tokenizer_name", str(name))
    model = PremiseRetriever(str(name), **settings).to(torch.device(device))
    model.freeze()
    return model


def load_start(config: TrainingConfig, checkpoint: Path | None) -> PremiseRetriever:
    """Load the model that a step starts from, ready to train with the configuration's settings.

    Raises:
        CheckpointError: If it cannot be loaded.
    """
    settings = config.get_model_config()
    name = settings.pop("model_name")
    if checkpoint is None and Path(name).suffix == ".ckpt":
        checkpoint = Path(name)
    if checkpoint is None:
        # transformers hands models over in evaluation mode
        return PremiseRetriever(name, **settings).train()
    return PremiseRetriever.load(checkpoint, freeze=False, **settings)


def write_finished(folder: Path, source: Path, consolidation: Consolidation | None) -> Path:
    """Write the final checkpoint of a repository: without optimiser, with EWC's state.

    The weights are those of ``source``, the step's best checkpoint. The file's name has the
    validation recall if the name of ``source`` has.

    Raises:
        CheckpointError: If ``source`` cannot be read.
    """
    checkpoint: dict[str, Any] = read_checkpoint(source)
    for key in _TRAINING_ONLY:
        checkpoint.pop(key, None)
    checkpoint.pop("ewc", None)
    if consolidation is not None:
        checkpoint["ewc"] = consolidation.to(torch.device("cpu")).to_state()
    recall = recall_in_name(source)
    name = FINISHED if recall is None else f"{FINISHED}-Recall@10_val={recall:.4f}"
    path = folder / f"{name}.ckpt"
    with atomic_writer(path) as stream:
        torch.save(checkpoint, stream)
    return path
