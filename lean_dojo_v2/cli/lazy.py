"""A click group whose commands are imported when they run, not when the group lists them."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

COMPLETION = "_LEAN_DOJO_COMPLETE"
"""Set by the shell while it completes a line; click reads it."""


class LazyCommand(NamedTuple):
    """Where a command is.

    Attributes:
        target: ``"package.module:attribute"`` of the click command.
        summary: Its line in the group's help.
    """

    target: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        command = pkgutil.resolve_name(self.target)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """A group with commands in other modules.

    Args:
        lazy: The commands by name, in the order of the help.
        *args: For ``click.Group``.
        **kwargs: For ``click.Group``.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List names in the order of the help, without importing anything."""
        return [*self.lazy, *(name for name in super().list_commands(ctx) if name not in self.lazy)]

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
            if name not in self.lazy and not command.hidden:
                rows.append((name, command.get_short_help_str(limit=formatter.width)))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
