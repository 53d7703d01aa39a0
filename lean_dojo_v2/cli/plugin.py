"""Manifest of the program's own commands."""

from collections.abc import Iterator

from lean_dojo_core import hookimpl
from lean_dojo_v2.cli.program import COMMANDS
from lean_dojo_v2.kinds import CommandSpec


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer every command that ``lean-dojo --help`` lists."""
    for name, command in COMMANDS.items():
        yield CommandSpec(name=name, target=command.target, summary=str(command.short_help))
