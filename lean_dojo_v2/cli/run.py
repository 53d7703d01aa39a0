"""Options of commands with a trainer, and the trainer with its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import ConfigError, LeanDojoError, UsageError, registry, settings_of
from lean_dojo_core.wording import did_you_mean
from lean_dojo_v2 import data, database as databases
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.settings import Settings, construct, parse_assignment, read_settings, with_inner

_GIVEN = "lean_dojo_v2.cli.given"
RUN_KEY = "run"
"""The key of a file for the data; all other keys are the trainer's settings."""


@attrs.frozen
class RunSection:
    """The section ``run:`` of a file.

    Attributes:
        database: The database of traced repositories (``.json``, ``.sqlite``);
            ``dynamic_database.json`` if not given.
        data_path: Folder for the exported data.
        repositories: Which of the database's repositories, as ``owner/name``, an address, or
            either with ``@commit``; all if empty.
    """

    database: Path | None = None
    data_path: Path | None = None
    repositories: list[str] = attrs.Factory(list)

    @property
    def database_path(self) -> Path:
        """The database, or its default."""
        return self.database or args.DEFAULT_DATABASE


reward_option = args.option(
    "--reward",
    multiple=True,
    metavar="NAME[:weight]",
    shell_complete=args.complete_reward,
    help="Reward, for a trainer that takes rewards; may be repeated.",
)


@attrs.frozen
class RunOptions:
    """The options for data and settings of a training."""

    files: tuple[Path, ...] = args.config_option
    assignments: tuple[str, ...] = args.set_option
    database: Path | None = args.database_option(default=None)
    data_path: Path | None = args.option(
        "--data-path",
        "--dataset",
        **args.NEW_FOLDER,
        help="Folder for the exported data (default: raid/data/merged).",
    )
    repositories: tuple[str, ...] = args.repo_option
    formatter: str | None = args.option(
        metavar="NAME",
        shell_complete=args.complete_formatter,
        help="Dataset formatter to use instead of the trainer's own.",
    )
    rewards: tuple[str, ...] = reward_option


class SettingsCommand(click.Command):
    """A command whose ``--help`` also lists the settings of the named trainer."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the arguments, since ``--help`` is handled before they are parsed."""
        ctx.meta[_GIVEN] = list(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the settings."""
        super().format_options(ctx, formatter)
        named = [word for word in ctx.meta.get(_GIVEN, ()) if word in registry.trainers]
        if not named:
            return
        try:
            settings = settings_of(registry.trainers[named[0]].load())
        except LeanDojoError as error:
            formatter.write_paragraph()
            formatter.write_text(f"The settings of {named[0]} cannot be listed: {error}")
            return
        with formatter.section(f"Settings of {named[0]} (--set KEY=VALUE, or keys of -c FILE)"):
            formatter.write_dl(
                [(f"{key} {one.shown}", one.help) for key, one in with_inner(settings)]
            )


def gather(given: RunOptions) -> tuple[Settings, RunSection]:
    """Read files, then ``--set``, then the other options; later ones win."""
    settings = Settings()
    for path in given.files:
        settings.update(read_settings(path))
    for text in given.assignments:
        settings.update(parse_assignment(text))
    if given.formatter is not None:
        settings.put("formatter", given.formatter, "--formatter")
    if given.rewards:
        settings.put("reward_func", list(given.rewards), "--reward")
    section: RunSection = construct(
        RunSection, settings.take(RUN_KEY), owner=f"section {RUN_KEY!r}"
    )
    return settings, RunSection(
        given.database or section.database,
        given.data_path or section.data_path,
        list(given.repositories) or section.repositories,
    )


def make_trainer(entry: registry.Entry[Any, Any], settings: Settings) -> Any:
    """Load a trainer and construct it; refuses a formatter without the trainer's columns."""
    target = entry.load()
    owner = f"trainer {entry.name!r}"
    names = {setting.name for setting in settings_of(target)}
    formatter = settings.values.get("formatter")
    if formatter is not None and "formatter" not in names:
        place = settings.place(("formatter",))
        raise ConfigError(f"{place}: {owner} makes its examples itself; it takes no formatter")
    if "reward_func" in settings.values and "reward_func" not in names:
        raise ConfigError(f"{settings.place(('reward_func',))}: {owner} takes no rewards")
    if isinstance(formatter, str):
        offered = registry.dataset_formatters[formatter].spec.columns
        needed = entry.spec.required_columns
        if missing := [column for column in needed if offered and column not in offered]:
            raise ConfigError(
                f"dataset formatter {formatter!r} gives the columns {', '.join(offered)}, but "
                f"{owner} also needs {', '.join(missing)}"
            )
    return construct(target, settings, owner=owner)


def open_database(path: Path, *, read_only: bool = False) -> databases.DynamicDatabase:
    """Open an existing database; with ``read_only`` nothing is written."""
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no such database; name one with --database, or make one with "
            "`lean-dojo trace` or `lean-dojo database import`"
        )
    return databases.DynamicDatabase(path, read_only=read_only)


def select_repositories(
    database: databases.DynamicDatabase, wanted: Sequence[str], path: Path
) -> list[databases.Repository]:
    """Return the wanted repositories (all if none is named), in the order of the database."""
    repositories = list(database.repositories)
    if not repositories:
        raise UsageError(f"{path}: holds no repository; add one with `lean-dojo trace`")
    chosen: list[databases.Repository] = []
    for text in wanted:
        matches = [one for one in repositories if data.is_meant(one.url, one.commit, text)]
        if not matches:
            names = [f"{one.name}@{one.commit[:12]}" for one in repositories]
            raise UsageError(f"{path}: no repository {text!r}.{did_you_mean(text, names)}")
        chosen.extend(matches)
    return [one for one in repositories if not wanted or one in chosen]
