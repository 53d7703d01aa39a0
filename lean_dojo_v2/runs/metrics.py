"""``metrics.jsonl``: one line per report, in the same form for every trainer.

A line holds ``step`` (steps of the optimiser, counted through all repositories), ``repository``,
``time`` (seconds since 1970) and numbers by name.
"""

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lean_dojo_v2.files import append_lines, read_lines, write_lines

METRICS_FILE = "metrics.jsonl"
"""Name of the file of metrics in a run's folder."""


def numbers_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Keep the finite numbers.

    >>> numbers_of({"loss": 1, "lr": float("nan"), "note": "x"})
    {'loss': 1.0}
    """
    return {
        key: float(value)
        for key, value in metrics.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }


def append_metrics(folder: Path, step: int, repository: str, numbers: Mapping[str, float]) -> None:
    """Write a line into a run's output folder."""
    row = {"step": step, "repository": repository, "time": round(time.time(), 3), **numbers}
    append_lines(folder / METRICS_FILE, [row])


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Read a run's reports, without an incomplete line of a killed process."""
    return [row for row in read_lines(folder / METRICS_FILE) if "step" in row]


def last_metrics(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the last value of every number that a run has reported."""
    found: dict[str, float] = {}
    for row in rows:
        found.update({k: v for k, v in row.items() if isinstance(v, int | float) and k != "time"})
    return found


def forget_metrics_after(folder: Path, step: int) -> None:
    """Drop what was reported after a step: a resumed run reports it again."""
    kept = [row for row in read_metrics(folder) if row["step"] <= step]
    write_lines(folder / METRICS_FILE, kept)
