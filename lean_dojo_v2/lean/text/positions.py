"""Positions in a file: characters, bytes, UTF-16 units and LeanDojo's (line, column) pairs.

Lean counts bytes in its syntax, code points in its messages and UTF-16 units for editors; the
records count lines and columns from 1, in code points. A map per file converts them.
"""

from bisect import bisect_right
from itertools import accumulate

from lean_dojo_core.records import Position


class PositionMap:
    """Conversions for the text of a file, line endings as they are; an index is a Python index."""

    def __init__(self, text: str) -> None:
        self.text = text
        lengths = [len(line) for line in text.split("\n")]
        self._starts = [0, *accumulate(length + 1 for length in lengths[:-1])]
        self._ascii = text.isascii()
        self._bytes: list[int] | None = None

    def position(self, index: int) -> Position:
        """Return the 1-based (line, column) of an index."""
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def exact_index(self, position: Position) -> int | None:
        """Return the index of a 1-based (line, column); ``None`` if it is outside the text."""
        line, column = position
        if not 1 <= line <= len(self._starts) or column < 1:
            return None
        index = self._starts[line - 1] + column - 1
        return index if index <= len(self.text) else None

    def index(self, line: int, column: int) -> int:
        """Return the index of Lean's (line from 1, column from 0), or the nearest in the text."""
        if line > len(self._starts):
            return len(self.text)
        return min(self._starts[max(line, 1) - 1] + column, len(self.text))

    def index_of_byte(self, offset: int) -> int:
        """Return the index of a byte offset into the UTF-8 text."""
        if self._ascii:
            return min(offset, len(self.text))
        if self._bytes is None:
            sizes = (len(character.encode("utf-8", "surrogatepass")) for character in self.text)
            self._bytes = [0, *accumulate(sizes)]
        return max(bisect_right(self._bytes, offset) - 1, 0)

    def index_of_utf16(self, line: int, unit: int) -> int:
        """Return the index of an editor's position: ``line`` from 0, ``unit`` from 0 in UTF-16."""
        start = self.index(line + 1, 0)
        units = self.text[start : start + unit].encode("utf-16-le", "surrogatepass")
        return start + len(units[: 2 * unit].decode("utf-16-le", "replace"))
