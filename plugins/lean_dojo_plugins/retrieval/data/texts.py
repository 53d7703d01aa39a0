"""Many strings in one buffer, and the text of a premise as the encoder sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs
import numpy as np
import numpy.typing as npt

from lean_dojo_core.records import MARK_CLOSE, MARK_OPEN


@attrs.frozen(eq=False)
class TextTable:
    """An immutable list of strings: one byte buffer and offsets, no object per string.

    Attributes:
        buffer: All strings in UTF-8, one after the other.
        offsets: ``int64[N + 1]``, where each string starts.

    >>> table = TextTable.of(["α", "", "b"])
    >>> list(table), table[0], len(table)
    (['α', '', 'b'], 'α', 3)
    """

    buffer: bytes
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextTable:
        """Pack strings."""
        builder = TextTableBuilder()
        for text in texts:
            builder.add(text)
        return builder.table()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.buffer[self.offsets[index] : self.offsets[index + 1]].decode()

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))


class TextTableBuilder:
    """A text table under construction."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._offsets = [0]

    def add(self, text: str) -> None:
        """Append a string."""
        self._buffer += text.encode()
        self._offsets.append(len(self._buffer))

    def table(self) -> TextTable:
        """Give the finished table."""
        return TextTable(bytes(self._buffer), np.array(self._offsets, dtype=np.int64))


@attrs.frozen(eq=False)
class PremiseTexts:
    """The texts of all premises as the encoder reads them; each is made when it is asked for."""

    names: TextTable
    codes: TextTable

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> str:
        return premise_text(self.names[number], self.codes[number])

    def __iter__(self) -> Iterator[str]:
        return map(premise_text, self.names, self.codes)


def premise_text(full_name: str, code: str) -> str:
    """Give a premise as the encoder reads it: its code with its name marked.

    The rule is ReProver's (Yang et al. 2023, "LeanDojo"): the longest suffix of the full name that
    stands in the code after white space becomes ``<a>full_name</a>``. Where the code does not say
    the name (an anonymous instance), the marked name goes in front.

    >>> premise_text("Nat.add_comm", "theorem add_comm (a b : Nat) : a + b = b + a")
    'theorem <a>Nat.add_comm</a> (a b : Nat) : a + b = b + a'
    >>> premise_text("instInhabitedNat", "instance : Inhabited Nat := ⟨0⟩")
    '<a>instInhabitedNat</a> instance : Inhabited Nat := ⟨0⟩'
    """
    marked = f"{MARK_OPEN}{full_name}{MARK_CLOSE}"
    rooted = f"_root_.{full_name}"
    if rooted in code:
        return code.replace(rooted, marked)
    parts = full_name.split(".")
    for first in range(len(parts)):
        suffix = ".".join(parts[first:])
        if suffix not in code:  # much cheaper than the expression below
            continue
        # A name goes on with letters, digits, `_`, `'`, `!`, `?`, `.`: those may not follow.
        pattern = rf"(?<=\s)«?{re.escape(suffix)}»?(?![\w'!?]|\.\w)"
        found, changes = re.subn(pattern, lambda _: marked, code)
        if changes:
            return found
    return f"{marked} {code}"
