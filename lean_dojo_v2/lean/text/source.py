"""A theorem in its file: position, statement, and the file around it."""

import re
from functools import cached_property
from pathlib import Path
from typing import Self

import attrs

from lean_dojo_core.records import Position, Theorem
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.helpers import join_helpers, split_helpers
from lean_dojo_v2.lean.text.lexer import Token, code_tokens, without_end
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.lean.text.statement import split_statement

_NOT_ALONE = frozenset({".", "`"})
"""Characters that make a following keyword part of a name: ``(f x).end``, `` `mutual``."""


@attrs.frozen(slots=False)
class SourceTheorem:
    """A theorem and the text of its whole file.

    Its positions are 1-based lines and columns, its end exclusive; one outside the file is a
    LeanError when its text is used. The ``statement``, if recorded, is the source text up to and
    with ``:=``. Without ``header``, the text continues the server's environment instead of having
    its own imports.
    """

    text: str = attrs.field(repr=False)
    full_name: str
    file_path: str
    start: Position
    end: Position
    statement: str | None = None
    header: bool = True

    @classmethod
    def of(cls, theorem: Theorem, text: str) -> Self:
        """Combine a traced theorem with its file's text."""
        return cls(
            text,
            theorem.full_name,
            theorem.file_path,
            theorem.start,
            theorem.end,
            theorem.theorem_statement,
        )

    @cached_property
    def before(self) -> str:
        """The file up to the declaration: its context, without itself."""
        return self.text[: self.offset(self.start)]

    @cached_property
    def declaration(self) -> str:
        """The declaration's own text."""
        return self.text[self.offset(self.start) : self.offset(self.end)]

    @cached_property
    def after(self) -> str:
        """The file behind the declaration."""
        return self.text[self.offset(self.end) :]

    @cached_property
    def head(self) -> str:
        """The declaration's text before its proof: attributes, name, binders and statement.

        It is a LeanError if there is neither a ``:=`` nor alternatives (``| 0 => …``).
        """
        if self.full_name.rpartition(".")[2].strip("«»") not in self.declaration:
            raise LeanError(
                f"{self.file_path}:{self.start[0]}: {self.full_name} is not there; the file has "
                "changed since it was traced. Trace it again."
            )
        if self.statement is not None and self.declaration.startswith(self.statement.rstrip()):
            return without_end(self.statement.rstrip().removesuffix(":="))
        found = split_statement(self.declaration)
        if found is None:
            raise LeanError(
                f"{self.file_path}:{self.start[0]}: {self.full_name} has no ':=' that a proof "
                "could follow"
            )
        return without_end(self.declaration[: found[0]])

    @cached_property
    def proof(self) -> str:
        """The text after the statement (``:=`` or alternatives, proof, clauses); may be empty."""
        if self.statement is not None and self.declaration.startswith(self.statement):
            return self.declaration[len(self.statement) :]
        found = split_statement(self.declaration)
        return "" if found is None else self.declaration[found[0] :]

    @cached_property
    def own_names(self) -> tuple[str, ...]:
        """The full name and every suffix by which its file may call it."""
        return endings_of(self.full_name)

    @cached_property
    def in_mutual_block(self) -> bool:
        """Whether the text before it leaves a ``mutual`` block open."""
        words = _keywords(self.before, "mutual", "end")
        return bool(words) and words[-1].text == "mutual"

    @property
    def closing(self) -> str:
        """The text needed after the declaration if the file is cut off behind it."""
        return "\nend\n" if self.in_mutual_block else "\n"

    @cached_property
    def rest_of_block(self) -> str:
        """The text that completes its command: those of a ``mutual`` block may cite each other."""
        if not self.in_mutual_block:
            return "\n"
        ends = _keywords(self.after, "end")
        return self.after[: ends[0].start] + "end\n" if ends else self.closing

    def with_proof(self, proof: str) -> str:
        """Return the declaration with another proof: tactics, one a line, indented as they are.

        Declarations at its beginning come before the theorem (:mod:`.helpers`). Errors are those of
        :attr:`head`.
        """
        helpers, tactics = split_helpers(proof)
        lines = tactics.strip("\n").split("\n")
        block = "\n".join(f"  {line}" if line.strip() else "" for line in lines)
        return f"{join_helpers(helpers)}{self.head} := by\n{block}"

    def offset(self, position: Position) -> int:
        """Return the index of a 1-based line and column; no such place is a LeanError."""
        index = self.places.exact_index(position)
        if index is None:
            line, column = position
            raise LeanError(
                f"{self.file_path} has no line {line}, column {column}; the file is not the one "
                "that was traced. Trace it again."
            )
        return index

    def occurrences(self, text: str) -> list[Position]:
        """Return every place in the declaration where a text begins."""
        start = self.offset(self.start)
        found = re.finditer(f"(?={re.escape(text)})", self.declaration)
        return [self.places.position(start + match.start()) for match in found]

    @cached_property
    def places(self) -> PositionMap:
        """Conversions of positions in its file."""
        return PositionMap(self.text)


def endings_of(full_name: str) -> tuple[str, ...]:
    """Return a name and every ending by which it may be cited.

    >>> endings_of("Nat.add.zero")
    ('Nat.add.zero', 'add.zero', 'zero')
    """
    parts = full_name.split(".")
    return tuple(".".join(parts[index:]) for index in range(len(parts)))


def _keywords(text: str, *words: str) -> list[Token]:
    """Return the places of keywords in a text: not in comments, strings or names."""
    if words[0] not in text:  # most files have no `mutual`
        return []
    found: list[Token] = []
    last = ""
    for token in code_tokens(text):
        if token.text in words and last not in _NOT_ALONE:
            found.append(token)
        last = token.text
    return found


def read_source(file: Path) -> str:
    """Read a file's text as :func:`lean_text` gives it; an OSError says that it cannot be read."""
    return lean_text(file.read_bytes())


def lean_text(content: bytes) -> str:
    r"""Decode the content of a Lean file as Lean and editors see it, or raise a UnicodeDecodeError.

    ``\r\n`` ends a line, a lone ``\r`` does not; a byte order mark at the beginning is not text.

    >>> lean_text(b"\xef\xbb\xbfimport A\r\n")
    'import A\n'
    """
    return content.decode("utf-8-sig").replace("\r\n", "\n")
