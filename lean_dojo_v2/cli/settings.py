"""Settings on the command line: ``train NAME --help`` lists them, ``--set`` completes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry
from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.described import Described, Description, describe

_GIVEN = "lean_dojo_v2.cli.given"


class SettingsCommand(click.Command):
    """A command whose ``--help`` also lists the settings of the trainer that is named before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the words: ``--help`` is answered before the others are understood."""
        ctx.meta[_GIVEN] = list(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the settings."""
        super().format_options(ctx, formatter)
        named = [word for word in ctx.meta.get(_GIVEN, ()) if word in registry.trainers]
        if not named:
            return
        try:
            settings = describe(registry.trainers[named[0]]).settings
        except LeanDojoError as error:
            formatter.write_paragraph()
            formatter.write_text(f"The settings of {named[0]} cannot be listed: {error}")
            return
        with formatter.section(f"Settings of {named[0]} (--set KEY=VALUE, or keys of -c FILE)"):
            formatter.write_dl(list(_listed(settings)))


def _listed(settings: Iterable[Described], before: str = "") -> Iterator[tuple[str, str]]:
    """Give each setting with its help, those of a record after it under their whole keys."""
    for one in settings:
        default = " (required)" if one.required else f" = {one.shown}"
        yield f"{before}{one.name} {one.type}{default}", one.help
        if one.record:
            yield from _listed(one.inner, f"{before}{one.name}.")


def complete_setting(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete ``key=``, ``key.inner=`` and, where they are known, the values after it."""
    entry = _entry(context)
    description = None if entry is None else _at_hand(entry)
    if description is None:
        return []
    key, equals, value = incomplete.partition("=")
    *path, last = key.split(".")
    settings = _inside(description.settings, path)
    if equals:
        found = [one for one in settings if one.name == last]
        words = [word for one in found for word in _values(one)]
        return [CompletionItem(f"{key}={word}") for word in words if word.startswith(value)]
    before = "".join(f"{part}." for part in path)
    return [
        CompletionItem(f"{before}{one.name}{end}", help=one.help or one.type)
        for one in settings
        if one.name.startswith(last)
        for end in (["=", "."] if one.inner else ["="])
    ]


def _entry(context: click.Context) -> registry.Entry[Any, Any] | None:
    """Find whose settings are meant: the name in the command so far.

    An option that waits for its value stops click's parser; the words before it are then in
    ``args``.
    """
    names = [context.params.get("name"), *context.args]
    places: Iterable[Any] = registry.REGISTRIES.values()
    return next((place[name] for place in places for name in names if name in place), None)


def _at_hand(entry: registry.Entry[Any, Any]) -> Description | None:
    """Return the description, if that is quick; else have it made for the next time."""
    try:
        return describe(entry, wait=False)
    except LeanDojoError:  # the command itself will say so
        return None
    except TimeoutError:
        subprocess.Popen(
            [sys.executable, "-m", "lean_dojo_v2", "show", entry.qualified_name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return None


def _inside(settings: Sequence[Described], path: Sequence[str]) -> Sequence[Described]:
    for part in path:
        settings = [inner for one in settings if one.name == part for inner in one.inner]
    return settings


def _values(setting: Described) -> Iterator[str]:
    """Yield the values that a setting may have, where they can be counted."""
    if setting.name == "formatter":
        yield from registry.dataset_formatters
    if setting.name == "reward_func":
        yield from registry.reward_functions
    if setting.name == "callbacks":
        yield from registry.callbacks
    for schema in (setting.schema, *setting.schema.get("anyOf", ())):
        yield from map(str, schema.get("enum", ()))
        yield from ["true", "false"] if schema.get("type") == "boolean" else []
        yield from ["null"] if schema.get("type") == "null" else []
