"""How far predictions are off, in numbers and as a picture."""

from __future__ import annotations

from collections import defaultdict
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


def binary_measures(logits: Array, labels: Array) -> dict[str, float]:
    """Compare predicted probabilities with outcomes.

    Args:
        logits: Predicted log-odds, shape ``(n,)``.
        labels: 1 or 0, shape ``(n,)``.

    Returns:
        ``cross_entropy`` (nats), ``accuracy``, and ``solved``, the share of the outcome 1.

    >>> found = binary_measures(np.array([0.0, 3.0]), np.array([0, 1]))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'cross_entropy': 0.371, 'accuracy': 1.0, 'solved': 0.5}
    """
    loss = np.logaddexp(0.0, logits) - labels * logits
    return {
        "cross_entropy": float(np.mean(loss)),
        "accuracy": float(np.mean((logits > 0) == (labels > 0.5))),
        "solved": float(np.mean(labels)),
    }


def auc(scores: Array, labels: Array, groups: Sequence[str]) -> float:
    """Return the share of pairs of a group, one of each outcome, that the scores order rightly.

    Only states of one theorem wait in one queue, so pairs of two groups say nothing.

    Args:
        scores: Higher for the outcome 1, shape ``(n,)``.
        labels: 1 or 0, shape ``(n,)``.
        groups: What each belongs to.

    Returns:
        From 0 to 1; a tie counts half, and 0.5 is chance, or that there is no such pair.

    >>> auc(np.array([0.9, 0.1, 0.5, 0.2]), np.array([1, 0, 0, 1]), ["a", "a", "b", "b"])
    0.5
    """
    places: dict[str, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        places[group].append(index)
    right = pairs = 0.0
    for mine in places.values():
        above, below = (scores[[i for i in mine if (labels[i] > 0.5) == k]] for k in (True, False))
        difference = above[:, None] - below[None, :]
        right += float(np.sum(difference > 0) + np.sum(difference == 0) / 2)
        pairs += difference.size
    return right / pairs if pairs else 0.5


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


def draw_calibration(logits: Array, labels: Array, path: Path, bins: int = 10) -> None:
    """Draw the share of solved states over the predicted probability as an SVG file.

    Each of its ``bins`` points stands for as many states; ``logits`` are predicted log-odds.
    """
    figure, axes = figures.new_figure(5, 5)
    order = np.argsort(logits, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    probability = np.exp(-np.logaddexp(0.0, -logits))
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="calibrated")
    axes.plot(
        [float(np.mean(probability[part])) for part in parts],
        [float(np.mean(labels[part])) for part in parts],
        marker="o",
        label=f"{len(order)} states",
    )
    axes.set(
        xlabel="predicted probability", ylabel="share of solved states", title="Held-out searches"
    )
    axes.legend(fontsize="small")
    figures.save(figure, path)
