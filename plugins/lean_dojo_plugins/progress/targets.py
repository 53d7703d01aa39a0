"""What a model of the progress trainer predicts of a state: the steps that remain, or a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from transformers import PretrainedConfig

from lean_dojo_core.errors import CheckpointError
from lean_dojo_plugins.progress.metrics import (
    Array,
    auc,
    binary_measures,
    draw_calibration,
    draw_predictions,
    measures,
)
from lean_dojo_v2.lean_progress.critic import CriticExample, state_text
from lean_dojo_v2.lean_progress.examples import Example, ProgressExample, progress_text
from lean_dojo_v2.prover.suggestion import Step


@attrs.frozen(kw_only=True)
class Target:
    """A number that a model learns, and what the search does with it.

    The model's outputs, and the labels, are arrays of shape ``(n,)``.

    Attributes:
        name: Its name in settings, and in the model's configuration (``id2label``).
        problem_type: The loss, as transformers names it.
        best: The metric that picks the checkpoint; less is better.
        title: What a model card calls the model.
        does: What it says that the model does.
        example: Reads a line of the dataset; ``TypeError`` or ``ValueError`` say what is wrong.
        label: Gives an example's label in the form that the loss takes.
        measures: Compares outputs with labels.
        order: Says how well outputs order the states of each theorem, where that can be told.
        draw: Draws outputs against labels as an SVG file.
        text: Gives the model's input for a step of a search.
        distances: Gives what a search adds to the cost of a state.
    """

    name: str
    problem_type: str
    best: str
    title: str
    does: str
    example: Callable[[Mapping[str, Any]], Example]
    label: Callable[[Example], Any]
    measures: Callable[[Array, Array], dict[str, float]]
    order: Callable[[Array, Sequence[Example]], dict[str, float]]
    draw: Callable[[Array, Array, Path], None]
    text: Callable[[Step], str]
    distances: Callable[[Array], Array]


def _order(outputs: Array, examples: Sequence[Example]) -> dict[str, float]:
    """Return ``auc``, and ``auc_logprob`` of the log-probability, which needs no critic."""
    labels = np.asarray([example.label for example in examples])
    theorems = [example.theorem for example in examples]
    logprobs = np.asarray([getattr(example, "logprob", 0.0) for example in examples])
    return {
        "auc": auc(outputs, labels, theorems),
        "auc_logprob": auc(logprobs, labels, theorems),
    }


_STEPS = Target(
    name="steps",
    problem_type="regression",
    best="mse",
    title="Progress model",
    does="Predicts how many steps of a Lean 4 proof remain (LeanProgress).",
    example=ProgressExample.read,
    label=lambda example: example.label,
    measures=measures,
    order=lambda _outputs, _examples: {},  # they are the steps of one proof each
    draw=draw_predictions,
    text=lambda step: progress_text(step.before, step.prefix, step.tactic),
    distances=lambda outputs: np.maximum(outputs, 0.0),
)
"""The tactics that remain after a candidate tactic (LeanProgress, arXiv:2502.17925)."""

_SOLVED = Target(
    name="solved",
    problem_type="multi_label_classification",  # one label: binary cross-entropy
    best="cross_entropy",
    title="Critic",
    does="Predicts whether a proof search solves a Lean 4 proof state (logit).",
    example=CriticExample.read,
    label=lambda example: [example.label],  # the loss takes one column for each label
    measures=binary_measures,
    order=_order,
    draw=draw_calibration,
    text=lambda step: state_text(step.after),
    distances=lambda outputs: np.logaddexp(0.0, -outputs),
)
"""Whether a search finds a proof from a state: a critic.

The label is the outcome of a search, as in the value function of GPT-f (Polu & Sutskever 2020,
arXiv:2009.03393) and the critic of HTPS (Lample et al. 2022, arXiv:2205.11491): 1 for a state that
a proof went through, 0 for one that was expanded in vain. The search adds ``-log p``, so that with
weight 1 the cost of a state is minus the logarithm of the probability that the model writes the
tactics up to it *and* that a proof follows.
"""

TARGETS: Mapping[str, Target] = {one.name: one for one in (_STEPS, _SOLVED)}


def target_of(config: PretrainedConfig, path: Path | str) -> Target:
    """Say what a trained model predicts; one of before there was a choice predicts steps.

    Raises:
        CheckpointError: If it is no model of the progress trainer.
    """
    if config.num_labels != 1:
        raise CheckpointError(
            f"{path}: this is a classifier with {config.num_labels} labels, not a model of the "
            "progress trainer, which has one output"
        )
    labels: Mapping[Any, str] = config.id2label or {}
    return TARGETS.get(labels.get(0, ""), _STEPS)
