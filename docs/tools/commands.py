"""The command-line reference, from the click commands themselves: the words of their ``--help``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from html import escape

import click

from lean_dojo_v2.cli import cli

MARK = "<!-- commands -->"


def reference() -> Iterator[str]:
    """Give the reference as lines of Markdown."""
    yield from _command(cli, click.Context(cli, info_name="lean-dojo", **cli.context_settings))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    depth = len(context.command_path.split()) + 1
    yield f"{'#' * min(depth, 4)} {context.command_path}\n"
    yield f"{inspect.cleandoc(command.help or '')}\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    records = [parameter.get_help_record(context) for parameter in command.params]
    # Arguments stand in the usage line; they have no help of their own.
    options = [record for record in records if record is not None and record[1]]
    if options:
        yield "| option | |\n|---|---|"
        yield from (f"| <code>{_cell(names)}</code> | {_cell(text)} |" for names, text in options)
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _command(inner, click.Context(inner, info_name=name, parent=context))


def _cell(text: str) -> str:
    return " ".join(escape(text, quote=False).replace("|", "&#124;").split())
