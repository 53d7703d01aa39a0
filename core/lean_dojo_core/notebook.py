"""HTML tables for records in notebooks (``_repr_html_``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = 'style="text-align: left; vertical-align: top; white-space: pre-wrap"'


def table(
    title: str, rows: Iterable[Sequence[object]], columns: Sequence[str] = (), note: str = ""
) -> str:
    """Return a table as HTML, with all text escaped.

    Args:
        title: Heading of the table.
        rows: The cells of each row.
        columns: Headings of the columns, if any.
        note: Text below the table.

    >>> table("a<b", [["x", 1]])
    '<div><b>a&lt;b</b><table><tr><td ...>x</td><td ...>1</td></tr></table></div>'
    """
    head = "".join(f"<th {_CELL}>{escape(name)}</th>" for name in columns)
    lines = [f"<tr>{head}</tr>"] if columns else []
    for row in rows:
        cells = "".join(f"<td {_CELL}>{escape(str(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><b>{escape(title)}</b><table>{''.join(lines)}</table>{below}</div>"
