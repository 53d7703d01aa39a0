"""``train NAME --help`` lists the settings of NAME."""

from __future__ import annotations

import click

from lean_dojo_core import registry
from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.settings import settings_of
from lean_dojo_v2.structuring import with_inner

_GIVEN = "lean_dojo_v2.cli.given"


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
