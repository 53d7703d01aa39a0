"""``lean-dojo evaluate NAME``."""

from __future__ import annotations

import inspect
from pathlib import Path

import attrs
import click

from lean_dojo_core import Evaluation, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.names import complete_trainer
from lean_dojo_v2.cli.options import config_option, set_option
from lean_dojo_v2.cli.output import emit_json, json_option, note, table
from lean_dojo_v2.cli.run import RunOptions, gather, make_trainer, reward_option
from lean_dojo_v2.cli.settings import SettingsCommand
from lean_dojo_v2.cli.waiting import long_command
from lean_dojo_v2.plugin_host.optional_protocols import Evaluates


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
    trainer = make_trainer(entry, settings)
    if not isinstance(trainer, Evaluates):
        raise UsageError(f"trainer {entry.name!r} cannot evaluate: it has no method evaluate")
    options = {} if split is None else {"split": split}
    try:
        inspect.signature(trainer.evaluate).bind(dataset, **options)
    except TypeError as error:
        raise UsageError(
            f"trainer {entry.name!r} takes no such data ({error}); its method must be "
            'evaluate(data_path=None, split="val")'
        ) from error
    found = trainer.evaluate(dataset, **options)
    if not attrs.has(type(found)):
        raise UsageError(f"trainer {entry.name!r} gave {found!r:.80} instead of an Evaluation")
    if as_json:
        emit_json(found.to_dict() if hasattr(found, "to_dict") else attrs.asdict(found))
    elif type(found) is Evaluation:
        table(["METRIC", "VALUE"], [(key, f"{value:.4g}") for key, value in found.metrics.items()])
        note(f"{found.examples} examples of {found.split}; measured: {found.model}")
    else:  # with a table of its own
        click.echo(str(found))
