"""Commands: click commands that appear as ``lean-dojo NAME``."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from lean_dojo_core import PluginSpec, Registry, hookspec


class Command(Protocol):
    """A click command, such as click's own classes."""

    def main(self, *args: object, **extra: object) -> object:
        """Run it."""

    def make_context(self, info_name: str | None, args: list[str], **extra: object) -> object:
        """Parse a command line."""


class CommandSpec(PluginSpec):
    """Describes a command: a click command, mounted as ``lean-dojo NAME``."""

    kind: ClassVar = "command"
    protocol: ClassVar = Command
    suite: ClassVar = "lean_dojo_v2.kinds.testing:CommandSuite"


@hookspec
def lean_dojo_commands() -> Iterable[CommandSpec]:
    """Offer commands: click commands that appear as ``lean-dojo NAME``.

    They are listed by ``lean-dojo --help`` from their descriptors, and imported when they are run.

    >>> from lean_dojo_core import hookimpl
    >>> from lean_dojo_v2.kinds import CommandSpec
    >>> @hookimpl
    ... def lean_dojo_commands():
    ...     yield CommandSpec(
    ...         name="leaderboard",
    ...         target="my_plugin.leaderboard:command",
    ...         summary="Compares the results of several benchmarks.",
    ...     )
    """
    yield from ()


commands: Registry[CommandSpec, Command] = Registry(CommandSpec)
"""The registry of commands."""
