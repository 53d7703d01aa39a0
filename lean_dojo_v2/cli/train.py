"""``lean-dojo train NAME`` and ``lean-dojo evaluate NAME``."""

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import click
from ruamel.yaml.error import YAMLError

from lean_dojo_core import ChecksData, Evaluation, HasOwnData, Preflights, registry
from lean_dojo_core.errors import LeanDojoError, PluginError, UsageError
from lean_dojo_core.settings import settings_of
from lean_dojo_core.wording import counted
from lean_dojo_v2 import files, runs
from lean_dojo_v2.cli import parameters as args, run
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, json_option, note, table
from lean_dojo_v2.settings import Settings, write_yaml

OWN_DATA = "data_path"
"""The setting of a trainer with its own dataset (``progress``)."""


@click.command(cls=run.SettingsCommand)
@args.with_options
@long_command()
def train(
    name: str = args.argument(shell_complete=args.complete_trainer),
    given: run.RunOptions = args.group(run.RunOptions),
    dry_run: bool = args.option(
        is_flag=True,
        help="Check everything, print the resolved settings as YAML, and train nothing.",
    ),
    resume: bool | None = args.option(
        "--resume/--no-resume",
        help="Resume a killed run (default for the built-in trainers), or start anew.",
    ),
    as_json: bool = args.shared(json_option),
) -> None:
    """Train with the trainer NAME, repository by repository, easiest first.

    The keys of the YAML file are the trainer's settings (`lean-dojo show NAME` lists them). Its
    section `run:` may contain database, data_path and repositories. --set and the other options
    override files. The output of --dry-run can be read again with `-c`. --json prints where the
    result is and the last value of every logged number; with --dry-run it prints the settings.
    """
    entry = registry.trainers[name]
    settings, section = run.gather(given)
    if resume is not None:
        if "resume" not in {setting.name for setting in settings_of(entry.load())}:
            raise UsageError(f"trainer {entry.name!r} has no setting to resume or start anew")
        settings.put("resume", resume, "--resume" if resume else "--no-resume")
    trainer = run.make_trainer(entry, settings)
    if isinstance(trainer, Preflights):
        with _bugs_of(entry):
            trainer.preflight()
    plan: dict[str, Any] = {}
    arguments: tuple[Any, ...] = ()
    source = f"its own data ({_own_data(trainer, settings)})"
    if not _has_own_data(trainer, settings, section):
        database = run.open_database(section.database_path)
        wanted = run.select_repositories(database, section.repositories, section.database_path)
        easiest_first = database.sort_repositories_by_difficulty()
        repositories = [one for one in easiest_first if one in wanted]
        data_path = section.data_path or files.merged_data_dir()
        files.require_writable(data_path, "--data-path")
        if repositories and isinstance(trainer, ChecksData):
            with _bugs_of(entry):
                trainer.check_data(repositories[0].iter_theorems())
        arguments = (repositories, database, data_path)
        many = counted(len(repositories), "repository", "repositories")
        source = f"{many} of {section.database_path}"
        plan = {
            "database": str(section.database_path),
            "data_path": str(data_path),
            "repositories": [f"{one.url}@{one.commit}" for one in repositories],
        }
    if dry_run:
        resolved = {
            setting.name: settings.values.get(setting.name, setting.default)
            for setting in settings_of(entry.load())
        }
        if as_json:
            emit_json({"trainer": entry.qualified_name, "settings": resolved, **plan})
        else:
            click.echo(f"# trainer {entry.name} of {entry.distribution} {entry.version}")
            _print_plan(resolved, settings, plan)
        return
    note(f"Training {entry.name} ({entry.distribution} {entry.version}) on {source}.")
    with _bugs_of(entry):
        trainer.train(*arguments)
    note(f"Done. The result is in {trainer.output_dir}.")
    if as_json:
        last = runs.last_metrics(runs.read_metrics(Path(trainer.output_dir)))
        found = {"output_dir": str(trainer.output_dir), "metrics": last, **plan}
        emit_json({"trainer": entry.qualified_name, **found})


@contextmanager
def _bugs_of(entry: registry.Entry[Any, Any]) -> Iterator[None]:
    """Name the plugin whose trainer raises; `--traceback` shows where it came from."""
    try:
        yield
    except (LeanDojoError, OSError, click.ClickException, click.Abort):
        raise
    except Exception as error:
        if entry.plugin.builtin:  # our own bugs are shown as they are
            raise
        home = Path(inspect.getfile(entry.load())).parent
        frames = traceback.extract_tb(error.__traceback__)
        own = [one for one in frames if Path(one.filename).is_relative_to(home)] or frames
        raise PluginError(
            f"trainer {entry.name!r} of {entry.distribution} {entry.version} raised "
            f"{type(error).__name__}: {error} ({own[-1].filename}:{own[-1].lineno}); "
            "`lean-dojo --traceback …` shows all of it"
        ) from error


def _has_own_data(trainer: Any, settings: Settings, section: run.RunSection) -> bool:
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
    own = trainer.own_data if isinstance(trainer, HasOwnData) else None
    return own or settings.values.get(OWN_DATA)


def _print_plan(resolved: dict[str, Any], settings: Settings, plan: dict[str, Any]) -> None:
    """Print every setting, given or default, as a file that reproduces the training."""
    for name, value in resolved.items():
        try:
            text = write_yaml({name: value}).rstrip()
        except YAMLError:
            text = f"# {name}: {value!r}".replace("\n", " ")
        origin = settings.place((name,)) if name in settings.values else "default"
        head, *rest = text.split("\n")
        click.echo("\n".join([f"{head}  # {origin}", *rest]))
    if plan:
        click.echo(write_yaml({run.RUN_KEY: plan}).rstrip())


@click.command(cls=run.SettingsCommand)
@args.with_options
@long_command(resumes=False)
def evaluate(
    *,
    name: str = args.argument(shell_complete=args.complete_trainer),
    files: tuple[Path, ...] = args.config_option,
    assignments: tuple[str, ...] = args.set_option,
    rewards: tuple[str, ...] = run.reward_option,
    dataset: Path | None = args.option(
        "--dataset",
        "--data-path",
        type=click.Path(exists=True, path_type=Path),
        metavar="PATH",
        help="A dataset, or a folder of datasets (default: the data that training used).",
    ),
    split: str | None = args.option(
        type=click.Choice(["train", "val", "test"]),
        help="Split to measure on (default: the trainer's own choice of held-out data).",
    ),
    as_json: bool = args.shared(json_option),
) -> None:
    """Measure the model that the trainer NAME trained, and print the metrics.

    The settings are those of `lean-dojo train NAME`; the section `run:` of a file is ignored.
    """
    entry = registry.trainers[name]
    settings, _ = run.gather(run.RunOptions(files, assignments, rewards=rewards))
    trainer = run.make_trainer(entry, settings)
    options = {} if split is None else {"split": split}
    try:
        inspect.signature(trainer.evaluate).bind(dataset, **options)
    except (AttributeError, TypeError) as error:
        lacks = f'it has no method evaluate(data_path=None, split="val"): {error}'
        raise UsageError(f"trainer {entry.name!r} cannot evaluate: {lacks}") from error
    with _bugs_of(entry):
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
