"""Manifest of progress prediction."""

from collections.abc import Iterator

from lean_dojo_core import DatasetFormatterSpec, TrainerSpec, hookimpl


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``progress``."""
    yield TrainerSpec(
        name="progress",
        target="lean_dojo_plugins.progress.trainer:ProgressTrainer",
        summary="How many steps of a proof remain (LeanProgress).",
        required_columns=("goal", "prefix", "tactic", "steps_remaining"),
        default_formatter="progress-text",
    )


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``progress-text``."""
    yield DatasetFormatterSpec(
        name="progress-text",
        target="lean_dojo_plugins.progress.formatter:ProgressText",
        summary="State, tactics so far, candidate tactic; the steps after it.",
        columns=("goal", "prefix", "tactic", "steps_remaining", "theorem"),
    )
