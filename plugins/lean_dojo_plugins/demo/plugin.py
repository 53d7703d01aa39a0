"""Manifest of the demo."""

from collections.abc import Iterator

from lean_dojo_core import hookimpl
from lean_dojo_v2.kinds import CommandSpec


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``demo``."""
    yield CommandSpec(
        name="demo",
        target="lean_dojo_plugins.demo.command:demo",
        summary="Prove, trace, train and prove more, on the shipped sample.",
    )
