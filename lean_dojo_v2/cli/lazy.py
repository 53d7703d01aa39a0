"""Click groups whose commands are imported when they run, not when the group lists them."""

from __future__ import annotations

import pkgutil
from typing import Any

import click

from lean_dojo_core import Entry
from lean_dojo_core.errors import PluginLoadError, StrictPluginsError
from lean_dojo_v2 import kinds


class LazyCommand(click.Command):
    """Name and summary of a command, and its target: ``"package.module:attribute"``."""

    def __init__(self, name: str, target: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self.target = target

    def load(self) -> click.Command:
        """Import the command."""
        command = pkgutil.resolve_name(self.target)
        assert isinstance(command, click.Command)
        command.short_help = self.short_help
        return command


class LazyGroup(click.Group):
    """A group of lazy commands, which its help lists in their order without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the names."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        found = super().get_command(ctx, cmd_name)
        return found.load() if isinstance(found, LazyCommand) else found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of ``args``; suggest similar names for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            known, message = self.list_commands(ctx), error.message
            if self.invoke_without_command:
                message += f" `{ctx.command_path}` alone lists the {ctx.info_name}."
            raise click.NoSuchCommand(error.command_name, message, known, ctx) from None

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands with their summaries."""
        for heading, rows in self.sections().items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(list(rows.items()))

    def sections(self) -> dict[str, dict[str, str]]:
        """Return the names and summaries by heading."""
        return {"Commands": {name: one.short_help or "" for name, one in self.commands.items()}}


class ProgramGroup(LazyGroup):
    """The commands of this package and of plugins, built-in ones first.

    Plugins are loaded only for a command that is not of this package, or to list all. A third-party
    command never replaces another one: if its name is taken it is mounted as
    ``distribution:name``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of this package, then those of plugins."""
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

    def sections(self) -> dict[str, dict[str, str]]:
        """Return the names and summaries; those of third parties have a heading of their own."""
        found = {**super().sections(), "Commands of plugins": {}}
        for name, entry in self._listed().items():
            heading = "Commands" if entry.plugin.builtin else "Commands of plugins"
            found[heading][name] = entry.spec.summary
        return found

    def _listed(self) -> dict[str, Entry[kinds.CommandSpec, kinds.Command]]:
        try:
            return self._mounted()
        except (StrictPluginsError, OSError):  # reported on use; help must still work
            return {}

    def _mounted(self) -> dict[str, Entry[kinds.CommandSpec, kinds.Command]]:
        entries = kinds.commands.items()
        ours = {e.name: e for _, e in entries if e.plugin.builtin and e.name not in self.commands}
        taken = {*self.commands, *ours}
        theirs = {
            entry.qualified_name if entry.name in taken else name: entry
            for name, entry in entries
            if not entry.plugin.builtin
        }
        return ours | theirs
