"""What a model of the progress trainer predicts of a state: the steps that remain, or a proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

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


class Target(Protocol):
    """A number that a model learns, and what the search does with it.

    Attributes:
        name: Its name in settings, and in the model's configuration (``id2label``).
        problem_type: The loss, as transformers names it.
        best: The metric that picks the checkpoint; less is better.
        title: What a model card calls the model.
        does: What it says that the model does.
    """

    name: ClassVar[str]
    problem_type: ClassVar[str]
    best: ClassVar[str]
    title: ClassVar[str]
    does: ClassVar[str]

    def example(self, row: Mapping[str, Any]) -> Example:
        """Read a line of the dataset.

        Raises:
            TypeError: Saying what is wrong with it.
            ValueError: Likewise.
        """

    def label(self, example: Example) -> Any:
        """Return an example's label in the form that the loss takes."""

    def measures(self, outputs: Array, labels: Array) -> dict[str, float]:
        """Compare the model's outputs with labels, both of shape ``(n,)``."""

    def order(self, outputs: Array, examples: Sequence[Example]) -> dict[str, float]:
        """Say how well the outputs order the states of each theorem, where that can be told."""

    def draw(self, outputs: Array, labels: Array, path: Path) -> None:
        """Draw outputs against labels as an SVG file."""

    def text(self, step: Step) -> str:
        """Return the model's input for a step of a search."""

    def distances(self, outputs: Array) -> Array:
        """Return what a search adds to the cost of a state, for outputs of shape ``(n,)``."""


class Steps:
    """The tactics that remain after a candidate tactic (LeanProgress, arXiv:2502.17925)."""

    name: ClassVar[str] = "steps"
    problem_type: ClassVar[str] = "regression"
    best: ClassVar[str] = "mse"
    title: ClassVar[str] = "Progress model"
    does: ClassVar[str] = "Predicts how many steps of a Lean 4 proof remain (LeanProgress)."

    def example(self, row: Mapping[str, Any]) -> ProgressExample:
        """Read a line of a LeanProgress dataset."""
        return ProgressExample.read(row)

    def label(self, example: Example) -> float:
        """Return the steps."""
        return example.label

    def measures(self, outputs: Array, labels: Array) -> dict[str, float]:
        """Return ``mse``, ``mae`` and ``within_one``."""
        return measures(outputs, labels)

    def order(self, outputs: Array, examples: Sequence[Example]) -> dict[str, float]:  # noqa: ARG002
        """Return nothing: these examples are the steps of one proof each."""
        return {}

    def draw(self, outputs: Array, labels: Array, path: Path) -> None:
        """Draw predicted over true steps."""
        draw_predictions(outputs, labels, path)

    def text(self, step: Step) -> str:
        """Return the documented input: the state before, the tactics so far, the candidate."""
        return progress_text(step.before, step.prefix, step.tactic)

    def distances(self, outputs: Array) -> Array:
        """Return the steps themselves, none below 0."""
        return np.maximum(outputs, 0.0)


class Solved:
    """Whether a search finds a proof from a state: a critic.

    The label is the outcome of a search, as in the value function of GPT-f (Polu & Sutskever 2020,
    arXiv:2009.03393) and the critic of HTPS (Lample et al. 2022, arXiv:2205.11491): 1 for a state
    that a proof went through, 0 for one that was expanded in vain. The search adds
    ``-log p``, so that with weight 1 the cost of a state is minus the logarithm of the
    probability that the model writes the tactics up to it *and* that a proof follows.
    """

    name: ClassVar[str] = "solved"
    problem_type: ClassVar[str] = "multi_label_classification"  # one label: binary cross-entropy
    best: ClassVar[str] = "cross_entropy"
    title: ClassVar[str] = "Critic"
    does: ClassVar[str] = "Predicts whether a proof search solves a Lean 4 proof state (logit)."

    def example(self, row: Mapping[str, Any]) -> CriticExample:
        """Read a line of a critic's dataset."""
        return CriticExample.read(row)

    def label(self, example: Example) -> list[float]:
        """Return 1 or 0, in a list: the loss takes one column for each label."""
        return [example.label]

    def measures(self, outputs: Array, labels: Array) -> dict[str, float]:
        """Return ``cross_entropy``, ``accuracy`` and ``solved``, the share of solved states."""
        return binary_measures(outputs, labels)

    def order(self, outputs: Array, examples: Sequence[Example]) -> dict[str, float]:
        """Return ``auc``, and ``auc_logprob`` of the log-probability, which needs no critic."""
        labels = np.asarray([example.label for example in examples])
        theorems = [example.theorem for example in examples]
        logprobs = np.asarray([getattr(example, "logprob", 0.0) for example in examples])
        return {
            "auc": auc(outputs, labels, theorems),
            "auc_logprob": auc(logprobs, labels, theorems),
        }

    def draw(self, outputs: Array, labels: Array, path: Path) -> None:
        """Draw the share of solved states over the predicted probability."""
        draw_calibration(outputs, labels, path)

    def text(self, step: Step) -> str:
        """Return the state that the step leaves."""
        return state_text(step.after)

    def distances(self, outputs: Array) -> Array:
        """Return minus the logarithm of the probability, from its logit."""
        return np.logaddexp(0.0, -outputs)


TARGETS: Mapping[str, Target] = {one.name: one for one in (Steps(), Solved())}


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
    return TARGETS.get(labels.get(0, ""), TARGETS["steps"])
