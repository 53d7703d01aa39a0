"""Errors of predictions, as numbers and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from lean_dojo_v2.runs import figures

Array: TypeAlias = "np.ndarray[Any, Any]"


def measures(predicted: Sequence[float] | Any, actual: Sequence[float] | Any) -> dict[str, float]:
    """Compare predictions with the truth.

    Args:
        predicted: Predicted steps, one per example.
        actual: True steps.

    Returns:
        ``mse`` (steps squared), ``mae`` (steps) and ``within_one``, the share of examples whose
        prediction is at most one step off (the accuracy of LeanProgress).

    >>> measures([0.0, 3.0], [1, 1])
    {'mse': 2.5, 'mae': 1.5, 'within_one': 0.5}
    """
    error = np.abs(np.asarray(predicted, dtype=float) - np.asarray(actual, dtype=float))
    return {
        "mse": float(np.mean(error**2)),
        "mae": float(np.mean(error)),
        "within_one": float(np.mean(error <= 1)),
    }


def flat(values: Any) -> np.ndarray[Any, Any]:
    """Return an array of shape ``(n,)`` or ``(n, 1)`` as ``(n,)``."""
    return np.asarray(values, dtype=float).reshape(-1)


def draw_predictions(predicted: Any, actual: Any, path: Path) -> None:
    """Draw predicted against true steps as an SVG file."""
    figure, axes = figures.new_figure(5, 5)
    top = max(1.0, float(np.max(actual)), float(np.max(predicted)))
    axes.plot([0, top], [0, top], color="0.6", linewidth=1, label="exact")
    axes.fill_between([0, top], [-1, top - 1], [1, top + 1], color="0.9", label="within one step")
    axes.scatter(actual, predicted, s=12, alpha=0.5)
    axes.set(xlabel="true steps remaining", ylabel="predicted", title="Held-out proofs")
    axes.legend(fontsize="small")
    figures.save(figure, path)
