"""Output of commands: data on stdout, messages on stderr."""

import contextlib
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click

PLAIN_WIDTH = 80
FOLDED = 12
"""Minimum width of the wrapped last column."""
_STDOUT = "lean_dojo_v2.cli.stdout"


def keep_stdout_for_json(context: click.Context) -> None:
    """Redirect all other output, including that of plugins, to stderr until the program ends."""
    if _STDOUT not in context.meta:  # `plugins --json check NAME --json` has it twice
        context.meta[_STDOUT] = sys.stdout
        # Undone when the root context closes, even after wrong arguments.
        context.find_root().with_resource(contextlib.redirect_stdout(sys.stderr))


def _as_json(context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    if value and not context.resilient_parsing:
        keep_stdout_for_json(context)
    return value


json_option = click.option(
    "--json", "as_json", is_flag=True, callback=_as_json, help="Print JSON on stdout."
)
"""The option ``--json``; :func:`emit_json` prints."""


def emit_json(data: Any) -> None:
    """Print data as indented JSON on stdout; values unknown to JSON become text."""
    import json

    stdout = click.get_current_context().meta.get(_STDOUT)
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str), file=stdout)


def note(message: str) -> None:
    """Print a message for a human, on stderr."""
    click.echo(message, err=True)


def paragraph(text: str, *, indent: int = 0) -> str:
    """Wrap running text to 80 columns; words are never broken."""
    return textwrap.fill(
        " ".join(text.split()),
        PLAIN_WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table on stdout.

    It is aligned text in 80 columns or the terminal's width, with the last column wrapped. On a
    terminal that is too narrow, each row becomes a list of its cells.
    """
    width = PLAIN_WIDTH
    if sys.stdout.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    texts = [[str(cell) for cell in row] for row in rows]
    sizes = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    least = sum(sizes[:-1]) + 2 * (len(sizes) - 1) + min(sizes[-1], FOLDED)
    if sys.stdout.isatty() and least > width:
        records = [_aligned(list(zip(columns, row, strict=True)), width) for row in texts]
        click.echo("\n\n".join(records))
    else:
        click.echo(_aligned([columns, *texts], width))


def _aligned(rows: Sequence[Sequence[str]], width: int) -> str:
    """Align rows, and wrap their last cells.

    >>> print(_aligned([["NAME", "SUMMARY"], ["sft", "one two three"]], width=14))
    NAME  SUMMARY
    sft   one two
          three
    """
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = sum(sizes) + 2 * len(sizes)
    room = max(width - indent, 20 if width >= PLAIN_WIDTH else 1)
    lines = []
    for *cells, last in rows:
        head = "".join(f"{cell:<{size}}  " for cell, size in zip(cells, sizes, strict=True))
        wrapped = textwrap.wrap(
            last,
            indent + room,
            initial_indent=head,
            subsequent_indent=" " * indent,
            break_long_words=width < PLAIN_WIDTH,
            break_on_hyphens=False,
        )
        lines += wrapped or [head.rstrip()]
    return "\n".join(lines)
