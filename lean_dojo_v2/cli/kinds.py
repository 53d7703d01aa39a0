"""The option ``--kind``: any kind of plugins that is installed."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry


class KindType(click.ParamType[str]):
    """The name of a kind; which there are depends on the installed plugins."""

    name = "kind"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the name when it is given."""
        return click.Choice(list(registry.registries())).convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the name."""
        return click.Choice(list(registry.registries())).shell_complete(ctx, param, incomplete)


KIND = KindType()
