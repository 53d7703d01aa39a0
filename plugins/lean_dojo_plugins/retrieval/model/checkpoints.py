"""Checkpoints on disk: finding them, and writing the final one of a repository.

Truncated files are skipped with a warning.
"""

import logging
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lean_dojo_plugins.retrieval.model.ewc import Consolidation
from lean_dojo_plugins.retrieval.model.premise_retriever import read_checkpoint
from lean_dojo_v2.files import atomic_writer

log = logging.getLogger(__name__)

LAST = "last.ckpt"
FINISHED = "finished"
_RECALL = re.compile(r"Recall@10_val=(\d+(?:\.\d+)?)")
_TRAINING_ONLY = ("optimizer_states", "lr_schedulers", "loops", "callbacks", "MixedPrecision")


def find_latest(folder: Path) -> Path | None:
    """Return the checkpoint that was saved last in a folder or below it, ``None`` without any."""
    return _first_whole(folder, _age)


def find_best(folder: Path) -> Path | None:
    """Return the checkpoint with the highest ``Recall@10_val`` in its name, else the latest."""
    return _first_whole(folder, _quality)


def _quality(path: Path) -> tuple[float, tuple[int, str]]:
    recall = recall_in_name(path)
    return -1.0 if recall is None else recall, _age(path)


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, path.name


def _first_whole(folder: Path, quality: Callable[[Path], Any]) -> Path | None:
    for path in sorted(folder.rglob("*.ckpt"), key=quality, reverse=True):
        # A checkpoint is a zip archive, whose directory comes last, so a truncated one has none.
        if zipfile.is_zipfile(path):
            return path
        log.warning("%s is skipped: it is damaged, perhaps cut off by a kill; delete it", path)
    return None


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


def write_finished(folder: Path, source: Path, consolidation: Consolidation | None) -> Path:
    """Write the final checkpoint of a repository: the weights of ``source``, with EWC's state."""
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
