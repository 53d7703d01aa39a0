"""Tokens of Lean source: enough to find comments, strings, identifiers and brackets.

Lean's grammar can be extended by every file, so no outside program can parse it. Tracing
needs far less, and that is stable: comments, strings, identifiers and matching brackets. Everything
else is left to Lean.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

NAME_PART = r"(?:«[^»\n]*»|(?![λΠΣ])[^\W\d][\w'!?]*)"
"""One component of a name; λ, Π and Σ are symbols to Lean."""

_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<line_comment>--[^\n]*)
    | (?P<block_comment>/-)
    | (?P<raw_string>r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes))
    | (?P<string>"(?:\\.|\\\n|[^"\\])*")
    | (?P<char>'(?:\\(?:[\\'"nrt]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}})|[^'\\\n])')
    | (?P<number>\d[\w.]*)
    | (?P<ident>{NAME_PART}(?:\.{NAME_PART})*)
    | (?P<symbol>:=|=>|->|<-|//|\\/|<;>|<\|>|\|\||<\||\|>\.?|@\[|\#\[|\.\.|(?s:.))
    """,
    re.VERBOSE,
)
_COMMENT_EDGE = re.compile(r"/-|-/")

_PAIRS = ("( )", "[ ]", "{ }", "⟨ ⟩", "@[ ]", "#[ ]", "⦃ ⦄", "⟦ ⟧", "⌊ ⌋", "⌈ ⌉")
OPENERS: dict[str, str] = dict(pair.split() for pair in _PAIRS)
"""The closing bracket of each opening one."""
CLOSERS = frozenset(OPENERS.values())
"""The closing brackets."""


class Token(NamedTuple):
    """One token, with the index of its first character and the one after its last.

    Its kind is ``comment``, ``doc`` (``/-- … -/``), ``string``, ``char``, ``number``, ``ident`` or
    ``symbol``.
    """

    kind: str
    start: int
    end: int
    text: str


def all_tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of ``text[start:end]``, comments included, white space not.

    >>> [token.text for token in all_tokens("rw [h.1] -- twice")]
    ['rw', '[', 'h', '.', '1', ']', '-- twice']
    """
    stop = len(text) if end is None else end
    position = start
    while position < stop:
        match = _TOKEN.match(text, position, stop)
        assert match is not None  # the last alternative takes any character
        kind = match.lastgroup or "symbol"
        position = match.end()
        if kind == "space":
            continue
        if kind == "block_comment":
            position = comment_end(text, match.start(), stop)
            kind = "doc" if text.startswith("/--", match.start()) else "comment"
        yield Token(_KINDS.get(kind, kind), match.start(), position, text[match.start() : position])


_KINDS = {"line_comment": "comment", "raw_string": "string"}


def code_tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Return the tokens of ``text[start:end]`` without comments and docstrings."""
    return (t for t in all_tokens(text, start, end) if t.kind not in {"comment", "doc"})


def without_end(text: str) -> str:
    """Return the text without the white space and comments at its end.

    >>> without_end("theorem t : 1 = 1 -- easy")
    'theorem t : 1 = 1'
    """
    end = 0
    for token in code_tokens(text):
        end = token.end
    return text[:end]


def comment_end(text: str, start: int, stop: int) -> int:
    """Find the end of the block comment at ``start``; comments nest; an open one ends the text."""
    depth = 0
    position = start
    while match := _COMMENT_EDGE.search(text, position, stop):
        depth += 1 if match[0] == "/-" else -1
        position = match.end()
        if depth == 0:
            return position
    return stop


def without_comments(text: str) -> str:
    r"""Return the text without comments and docstrings, and without lines emptied by that.

    >>> without_comments("def x := 1 -- one\n/- two -/\n  + 2")
    'def x := 1\n  + 2'
    """
    kept: list[str] = []
    position = 0
    for token in all_tokens(text):
        if token.kind in {"comment", "doc"}:
            kept.append(text[position : token.start])
            # Lines inside a comment go; a mark tells lines emptied by it from empty ones.
            kept.append("\0")
            position = token.end
    kept.append(text[position:])
    lines = "".join(kept).split("\n")
    cleaned = ((line, line.replace("\0", "").rstrip()) for line in lines)
    return "\n".join(clean for line, clean in cleaned if clean or "\0" not in line).strip()
