"""How commands print: data on stdout, messages on stderr, tables plain unless on a terminal."""

from __future__ import annotations

import contextlib
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click

PLAIN_WIDTH = 80
_NUMBER = re.compile(r"[-+−–]?[\d.,]*(?:e[-+]?\d+)?( (?:of [\d,]+|%|s|MB|GB))?")
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


def counted(number: int, singular: str, plural: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "repository", "repositories"), counted(2, "repository", "repositories")
    ('1 repository', '2 repositories')
    """
    return f"{number} {singular if number == 1 else plural}"


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
    """Print a table on stdout.

    On a terminal rich draws it, in its width; elsewhere it is aligned text of 80 columns, in which
    the last column wraps.

    Args:
        columns: Headings.
        rows: Cells, as many a row as there are headings.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows)
    else:
        for line in plain_table(columns, rows):
            click.echo(line)


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
        first, *rest = textwrap.wrap(
            row[-1], room, break_long_words=False, break_on_hyphens=False
        ) or [""]
        lines.append((head + first).rstrip())
        lines.extend(" " * indent + line for line in rest)
    return lines


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    import shutil

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for position, heading in enumerate(columns):
        cells = [row[position] for row in rows]
        # Words may be cut or folded; half a number is a wrong number.
        width = max(map(len, cells), default=0) if all(map(_NUMBER.fullmatch, cells)) else None
        drawn.add_column(
            heading, no_wrap=position == 0 and width is None, min_width=width, overflow="fold"
        )
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(width=shutil.get_terminal_size().columns).print(drawn)
