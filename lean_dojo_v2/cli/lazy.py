"""Click groups whose commands are imported when they run, not when the group lists them."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lean_dojo_core.errors import PluginLoadError, StrictPluginsError

if TYPE_CHECKING:
    from lean_dojo_core.protocols import Command
    from lean_dojo_core.registry import Entry
    from lean_dojo_core.specs import CommandSpec

COMPLETION = "_LEAN_DOJO_COMPLETE"
"""Set by the shell while it completes a line; click reads it."""


class LazyCommand(NamedTuple):
    """A command's ``"package.module:attribute"``, and its line in the group's help."""

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
        lazy: The commands by name, in the order of the help; other arguments are ``click.Group``'s.
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
        """Find the command of ``args``; suggest similar names for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            unknown = click.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            )
            if self.invoke_without_command and not unknown.possibilities:
                hint = f"`{ctx.command_path}` alone lists the {ctx.info_name}."
                unknown = click.NoSuchCommand(
                    error.command_name, f"{error.message} {hint}", ctx=ctx
                )
            raise unknown from None

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands with their summaries, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return the names and summaries of the help."""
        return [(name, command.summary) for name, command in self.lazy.items()]


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

    def rows(self) -> list[tuple[str, str]]:
        """Return the names and summaries of the built-in commands."""
        mounted = [(n, e.spec.summary) for n, e in self._listed().items() if e.plugin.builtin]
        return [*super().rows(), *mounted]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, those of third parties under a heading of their own."""
        super().format_commands(ctx, formatter)
        mounted = [(n, e.spec.summary) for n, e in self._listed().items() if not e.plugin.builtin]
        if mounted:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(mounted)

    def _listed(self) -> dict[str, Entry[CommandSpec, Command]]:
        try:
            return self._mounted()
        except (StrictPluginsError, OSError):  # reported on use; help must still work
            return {}

    def _mounted(self) -> dict[str, Entry[CommandSpec, Command]]:
        from lean_dojo_core import registry  # not for a command of this package

        entries = registry.commands.items()
        ours = {e.name: e for _, e in entries if e.plugin.builtin and e.name not in self.lazy}
        taken = {*self.lazy, *ours}
        theirs = {
            entry.qualified_name if entry.name in taken else name: entry
            for name, entry in entries
            if not entry.plugin.builtin
        }
        return ours | theirs
