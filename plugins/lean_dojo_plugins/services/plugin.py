"""Manifest of the services: commands like those of any other plugin."""

from collections.abc import Iterator

from lean_dojo_core import hookimpl
from lean_dojo_v2.kinds import CommandSpec


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``serve``, ``mcp`` and ``report``."""
    yield CommandSpec(
        name="serve",
        target="lean_dojo_plugins.services.serve.command:serve",
        summary="Serve Lean's verdicts over HTTP, also to clients of Kimina Lean Server.",
    )
    yield CommandSpec(
        name="mcp",
        target="lean_dojo_plugins.services.mcp.command:mcp",
        summary="Serve Lean to coding agents over the Model Context Protocol.",
    )
    yield CommandSpec(
        name="report",
        target="lean_dojo_plugins.services.report.command:report",
        summary="Write one HTML page about a run's output folder, or to compare runs.",
    )
