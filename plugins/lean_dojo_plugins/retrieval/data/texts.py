"""Compact string tables, and the text of a premise as the encoder reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import pyarrow as pa  # type: ignore[import-untyped]

from lean_dojo_core.records import MARK_CLOSE, MARK_OPEN
from lean_dojo_plugins.training.rows import CHUNK, chunks


@attrs.frozen(eq=False)
class TextTable:
    """An immutable list of strings: one Arrow array, no object per string.

    >>> table = TextTable(pa.array(["α", "", "b"]))
    >>> list(table), table[0], len(table)
    (['α', '', 'b'], 'α', 3)
    """

    array: pa.LargeStringArray

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return str(self.array[index].as_py())

    def __iter__(self) -> Iterator[str]:
        return (text.as_py() for text in self.array)


def columns_of(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> dict[str, pa.Array]:
    """Pack a stream of rows into one array per column, with few rows in memory as objects."""
    batches = [pa.RecordBatch.from_pylist(chunk, schema) for chunk in chunks(rows, CHUNK)]
    table = pa.Table.from_batches(batches, schema)
    return {name: table[name].combine_chunks() for name in schema.names}


@attrs.frozen(eq=False)
class PremiseTexts:
    """The texts of all premises as the encoder reads them, generated on each iteration."""

    names: TextTable
    codes: TextTable

    def __iter__(self) -> Iterator[str]:
        return map(premise_text, self.names, self.codes)


def premise_text(full_name: str, code: str) -> str:
    """Return a premise as the encoder reads it: its code with its name marked.

    The rule is ReProver's (Yang et al. 2023, "LeanDojo"): the longest suffix of the full name that
    occurs in the code after white space becomes ``<a>full_name</a>``. If the code does not contain
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
