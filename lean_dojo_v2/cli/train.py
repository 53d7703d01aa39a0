"""``lean-dojo train NAME``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click
from ruamel.yaml.error import YAMLError

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.settings import settings_of
from lean_dojo_v2.atomic import require_writable
from lean_dojo_v2.cli.names import complete_trainer
from lean_dojo_v2.cli.options import grouped
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.cli.run import (
    RUN_KEY,
    RunOptions,
    RunSection,
    gather,
    make_trainer,
    open_database,
    select_repositories,
)
from lean_dojo_v2.cli.settings import SettingsCommand
from lean_dojo_v2.cli.waiting import long_command
from lean_dojo_v2.config import Settings, write_yaml
from lean_dojo_v2.paths import merged_data_dir
from lean_dojo_v2.wording import counted

OWN_DATA = "data_path"
"""The setting of a trainer with its own dataset (``progress``)."""


@click.command(cls=SettingsCommand)
@click.argument("name", shell_complete=complete_trainer)
@grouped(given=RunOptions)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check everything, print the resolved settings as YAML, and train nothing.",
)
@click.option(
    "--resume/--no-resume",
    default=None,
    help="Resume a killed run (default for the built-in trainers), or start anew.",
)
@json_option
@long_command()
def train(name: str, dry_run: bool, resume: bool | None, as_json: bool, given: RunOptions) -> None:
    """Train with the trainer NAME, repository by repository, easiest first.

    The keys of the YAML file are the trainer's settings (`lean-dojo show NAME` lists them). Its
    section `run:` may contain database, data_path and repositories. --set and the other options
    override files. The output of --dry-run can be read again with `-c`. --json prints where the
    result is and the last value of every logged number; with --dry-run it prints the settings.
    """
    entry = registry.trainers[name]
    settings, section = gather(given)
    if resume is not None:
        _set_resume(entry, settings, resume)
    trainer = make_trainer(entry, settings)
    look_first(trainer)
    plan: dict[str, Any] = {}
    arguments: tuple[Any, ...] = ()
    source = f"its own data ({_own_data(trainer, settings)})"
    if not _has_own_data(trainer, settings, section):
        database = open_database(section.database_path)
        wanted = select_repositories(database, section.repositories, section.database_path)
        easiest_first = database.sort_repositories_by_difficulty()
        repositories = [one for one in easiest_first if one in wanted]
        data_path = section.data_path or merged_data_dir()
        require_writable(data_path, "--data-path")
        arguments = (repositories, database, data_path)
        many = counted(len(repositories), "repository", "repositories")
        source = f"{many} of {section.database_path}"
        plan = {
            "database": str(section.database_path),
            "data_path": str(data_path),
            "repositories": [f"{one.url}@{one.commit}" for one in repositories],
        }
    if dry_run and as_json:
        emit_json({"trainer": entry.qualified_name, "settings": _resolved(entry, settings), **plan})
        return
    if dry_run:
        _print_plan(entry, settings, plan)
        return
    note(f"Training {entry.name} ({entry.distribution} {entry.version}) on {source}.")
    trainer.train(*arguments)
    note(f"Done. The result is in {trainer.output_dir}.")
    if as_json:
        from lean_dojo_v2.runs import metrics

        last = metrics.last(metrics.read(Path(trainer.output_dir)))
        found = {"output_dir": str(trainer.output_dir), "metrics": last, **plan}
        emit_json({"trainer": entry.qualified_name, **found})


def _resolved(entry: registry.Entry[Any, Any], settings: Settings) -> dict[str, Any]:
    """Return every setting, given or default."""
    return {
        setting.name: settings.values.get(setting.name, setting.default)
        for setting in settings_of(entry.load())
    }


def look_first(trainer: Any) -> None:
    """Call the trainer's ``preflight`` method, if any."""
    if callable(check := getattr(trainer, "preflight", None)):
        check()


def _has_own_data(trainer: Any, settings: Settings, section: RunSection) -> bool:
    """Whether the user gave data other than a database to a trainer that needs none."""
    if _own_data(trainer, settings) is None or section.database or section.repositories:
        return False
    try:
        inspect.signature(trainer.train).bind()
    except TypeError:  # its train() needs repositories
        return False
    return True


def _own_data(trainer: Any, settings: Settings) -> Any:
    """Return a trainer's data other than a database: its ``own_data``, else ``data_path``."""
    return getattr(trainer, "own_data", None) or settings.values.get(OWN_DATA)


def _set_resume(entry: registry.Entry[Any, Any], settings: Settings, resume: bool) -> None:
    if "resume" not in {setting.name for setting in settings_of(entry.load())}:
        raise UsageError(f"trainer {entry.name!r} has no setting to resume or start anew")
    flag = "--resume" if resume else "--no-resume"
    settings.put("resume", resume, flag)


def _print_plan(entry: registry.Entry[Any, Any], settings: Settings, plan: dict[str, Any]) -> None:
    """Print every setting, given or default, as a file that reproduces the training."""
    click.echo(f"# trainer {entry.name} of {entry.distribution} {entry.version}")
    for setting in settings_of(entry.load()):
        given = setting.name in settings.values
        value = settings.values[setting.name] if given else setting.default
        try:
            text = write_yaml({setting.name: value}).rstrip()
        except YAMLError:
            text = f"# {setting.name}: {value!r}".replace("\n", " ")
        origin = settings.place((setting.name,)) if given else "default"
        head, *rest = text.split("\n")
        click.echo("\n".join([f"{head}  # {origin}", *rest]))
    if plan:
        click.echo(write_yaml({RUN_KEY: plan}).rstrip())
