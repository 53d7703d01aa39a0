"""How commands print: data on stdout, messages on stderr."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click

PLAIN_WIDTH = 80
FOLDED = 12
"""Characters to which the last column may be folded; a narrower one is not read any more."""
_STDOUT = "lean_dojo_v2.cli.stdout"


def keep_stdout_for_json(context: click.Context) -> None:
    """Send to stderr whatever else is printed, by plugins too, until the program ends."""
    if _STDOUT not in context.meta:  # `plugins --json list --json` says it twice
        context.meta[_STDOUT] = sys.stdout
        # The root's end undoes it, also where the arguments turn out to be wrong.
        context.find_root().with_resource(contextlib.redirect_stdout(sys.stderr))


def emit_json(data: Any) -> None:
    """Print data as indented JSON on stdout; what JSON does not know is printed as text."""
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


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout: headings, and rows of as many cells.

    It is aligned text, in 80 columns or in the terminal's width, in which the last column wraps. On
    a terminal that is too narrow for the others, each row is a list of its cells.
    """
    width = PLAIN_WIDTH
    if sys.stdout.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    sizes = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    least = sum(sizes[:-1]) + 2 * (len(sizes) - 1) + min(sizes[-1], FOLDED)
    if sys.stdout.isatty() and least > width:
        click.echo("\n\n".join(_record(columns, row, width) for row in rows))
    else:
        click.echo("\n".join(plain_table(columns, rows, width)))


def plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int = PLAIN_WIDTH
) -> list[str]:
    """Lay a table out as lines of aligned text.

    >>> plain_table(["NAME", "SUMMARY"], [["sft", "one two three"]], width=14)
    ['NAME  SUMMARY', 'sft   one two', '      three']
    """
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = max(width - indent, 20 if width >= PLAIN_WIDTH else 1)
    lines = []
    for row in cells:
        head = "".join(
            f"{cell:<{size}}  " for cell, size in zip(row[:-1], widths[:-1], strict=True)
        )
        lines += _hung(head, row[-1], room, break_long_words=False, break_on_hyphens=False)
    return lines


def _hung(head: str, text: str, room: int, **how: Any) -> list[str]:
    """Wrap a text after a head, its further lines under its first."""
    indent = len(head)
    under = " " * indent
    wrapped = textwrap.wrap(
        text, indent + room, initial_indent=head, subsequent_indent=under, **how
    )
    return wrapped or [head.rstrip()]


def _record(columns: Sequence[str], row: Sequence[str], width: int) -> str:
    """Write one row as lines of heading and cell.

    >>> print(_record(["NAME", "SUMMARY"], ["sft", "one two three"], 16))
    NAME     sft
    SUMMARY  one two
             three
    """
    indent = max(map(len, columns)) + 2
    lines = []
    for heading, cell in zip(columns, row, strict=True):
        lines += _hung(f"{heading:<{indent}}", cell, max(width - indent, 1))
    return "\n".join(lines)
