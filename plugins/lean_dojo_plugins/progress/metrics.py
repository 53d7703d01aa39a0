"""Errors of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

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
