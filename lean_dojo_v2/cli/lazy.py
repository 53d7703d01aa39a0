"""Click groups whose commands are imported when they run, not when the group lists them."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lean_dojo_core import local
from lean_dojo_core.errors import PluginLoadError, StrictPluginsError, UnreadableFileError
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise, points

if TYPE_CHECKING:
    from lean_dojo_core.protocols import Command
    from lean_dojo_core.registry import Entry
    from lean_dojo_core.specs import CommandSpec

COMPLETION = "_LEAN_DOJO_COMPLETE"
"""Set by the shell while it completes a line; click reads it."""


class LazyCommand(NamedTuple):
    """Where a command is, as ``"package.module:attribute"``, and its line in the group's help."""

    target: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        command = pkgutil.resolve_name(self.target)
        assert isinstance(command, click.Command)
        command.short_help = self.summary
        return command


class LazyGroup(click.Group):
    """A group with commands in other modules.

    Args:
        lazy: The commands by name, in the order of the help; the rest is for ``click.Group``.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List names in the order of the help, without importing anything."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name in self.lazy:
            return self.lazy[cmd_name].load()
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of ``args``; an unknown one suggests near names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands with their summaries, without importing anything."""
        rows = [(name, command.summary) for name, command in self.lazy.items()]
        for name, command in self.commands.items():
            if not command.hidden:
                rows.append((name, command.get_short_help_str(limit=formatter.width)))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class ProgramGroup(LazyGroup):
    """The built-in commands and those that plugins mount.

    A plugin is asked for its commands only where one is looked for that is not built in, or all are
    listed; where no plugin is installed, none is looked for. A plugin's command never takes the
    place of a built-in one: under a name that is taken it is mounted as ``distribution:name``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the built-in names, then those of plugins."""
        return [*super().list_commands(ctx), *self._listed()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        found = super().get_command(ctx, cmd_name)
        if found is None and (entry := self._mounted().get(cmd_name)) is not None:
            command: Any = entry.load()
            if not isinstance(command, click.Command):
                raise PluginLoadError(
                    f"command {cmd_name!r} of {entry.distribution} {entry.version} "
                    f"(target {entry.spec.target}): it is not a click command"
                )
            return command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, those of plugins under a heading of their own."""
        super().format_commands(ctx, formatter)
        if mounted := self._listed():
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, entry.spec.summary) for name, entry in mounted.items()])

    def _listed(self) -> dict[str, Entry[CommandSpec, Command]]:
        try:
            return self._mounted()
        except UnreadableFileError:  # every use of a plugin says so; help is never refused
            return {}

    def _mounted(self) -> dict[str, Entry[CommandSpec, Command]]:
        others = any(normalise(p.distribution or "") != HOST_DISTRIBUTION for p in points())
        if not others and not local.files():
            return {}
        from lean_dojo_core import registry  # not for a program without plugins

        try:
            found = registry.commands.items()
            theirs = {name: entry for name, entry in found if not entry.plugin.builtin}
        except StrictPluginsError:  # `lean-dojo plugins` says which; help is never refused
            return {}
        return {
            entry.qualified_name if name in self.lazy else name: entry
            for name, entry in theirs.items()
        }
