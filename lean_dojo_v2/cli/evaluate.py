"""``lean-dojo evaluate NAME``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import Evaluation, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.names import complete_trainer
from lean_dojo_v2.cli.options import config_option, json_option, set_option
from lean_dojo_v2.cli.output import emit_json, note, table
from lean_dojo_v2.cli.run import RunOptions, gather, make_trainer, reward_option
from lean_dojo_v2.cli.settings import SettingsCommand
from lean_dojo_v2.cli.waiting import long_command
from lean_dojo_v2.paths import merged_data_dir


@click.command(cls=SettingsCommand)
@click.argument("name", shell_complete=complete_trainer)
@config_option
@set_option
@reward_option
@click.option(
    "--dataset",
    "--data-path",
    "dataset",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="A dataset, or a folder of datasets (default: the data that training used).",
)
@click.option(
    "--split",
    type=click.Choice(["train", "val", "test"]),
    help="Split to measure on (default: the trainer's own choice of held-out data).",
)
@json_option
@long_command(resumes=False)
def evaluate(
    *,
    name: str,
    files: tuple[Path, ...],
    assignments: tuple[str, ...],
    rewards: tuple[str, ...],
    dataset: Path | None,
    split: str | None,
    as_json: bool,
) -> None:
    """Measure the model that the trainer NAME trained, and print the metrics.

    The settings are those of `lean-dojo train NAME`; the section `run:` of a file is ignored.
    """
    entry = registry.trainers[name]
    settings, _ = gather(RunOptions(files, assignments, rewards=rewards))
    method = getattr(make_trainer(entry, settings), "evaluate", None)
    if not callable(method):
        raise UsageError(f"trainer {entry.name!r} cannot evaluate: it has no method evaluate")
    parameters = list(inspect.signature(method).parameters.values())
    if split is not None and "split" not in {one.name for one in parameters}:
        raise UsageError(f"trainer {entry.name!r} chooses its data itself; it takes no --split")
    options = {} if split is None else {"split": split}
    if dataset is not None and not parameters:
        raise UsageError(f"trainer {entry.name!r} chooses its data itself; it takes no --dataset")
    if dataset is None and parameters and parameters[0].default is inspect.Parameter.empty:
        dataset = merged_data_dir()  # the export folder of `train`
    found = method(**options) if dataset is None else method(dataset, **options)
    _print(found, as_json=as_json)


def _print(result: Any, *, as_json: bool) -> None:
    if type(result) is Evaluation and not as_json:
        numbers = [(name, f"{value:.4g}") for name, value in result.metrics.items()]
        table(["METRIC", "VALUE"], numbers)
        note(f"{result.examples} examples of {result.split}; measured: {result.model}")
        return
    plain = result
    if hasattr(result, "to_dict"):
        plain = result.to_dict()
    elif attrs.has(type(result)):
        plain = result = attrs.asdict(result)
    if as_json:
        emit_json(plain)
    elif isinstance(result, dict):
        table(["METRIC", "VALUE"], [(str(key), str(value)) for key, value in result.items()])
    elif result is not None:
        click.echo(str(result))
