"""The layout of a block of tactics, by columns.

Lean's grammar can be extended by every file, so only the layout is read. It shows where a proof may
be cut; Lean decides whether the rest is a proof.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from lean_dojo_v2.lean.text.lexer import CLOSERS, OPENERS, Token, code_tokens

_INNER_BLOCK = frozenset({"=>", "by", "·", "."})
"""After these a semicolon belongs to a block within the tactic."""


@attrs.frozen
class Sequence:
    """The rest of a block, from one of its tactics on.

    Attributes:
        starts: Indexes in the text where its tactics begin, including the first.
        end: Where the block ends.
        column: The column of the block, from 0.
    """

    starts: tuple[int, ...]
    end: int
    column: int


def rest_of_block(text: str, start: int, end: int) -> Sequence:
    r"""Find a tactic and those after it in its block.

    Args:
        text: A file.
        start: Where the tactic begins.
        end: Where its declaration ends.

    >>> text = "by\n  intro x\n  · simp; rfl\n  exact foo\n    x"
    >>> rest = rest_of_block(text, 5, len(text))
    >>> [text[start:].split()[0] for start in rest.starts], rest.column
    (['intro', '·', 'exact'], 2)
    """
    column = start - (text.rfind("\n", 0, start) + 1)
    block = column if not text[start - column : start].strip() else _column_before(text, start)
    starts, stop = [start], end
    for kind, place in _cuts(text, start, end, block):
        if kind == "end":
            stop = place
            break
        starts.append(place)
    return Sequence(tuple(starts), start + len(text[start:stop].rstrip()), block)


def _column_before(text: str, start: int) -> int:
    """Return the column of the block of a tactic that does not begin its line."""
    line = text.rfind("\n", 0, start) + 1
    begins = [line]  # start of the open block at each depth of brackets
    for token in code_tokens(text, line, start):
        if token.text in OPENERS:
            begins.append(token.end)
        elif token.text in CLOSERS and len(begins) > 1:
            begins.pop()
        elif _opens_block(text, token) or text[line : token.end].strip() == "|":
            begins[-1] = token.end
    before = text[begins[-1] : start]
    return begins[-1] + len(before) - len(before.lstrip()) - line


def _cuts(text: str, start: int, end: int, block: int) -> Iterator[tuple[str, int]]:
    """Yield where tactics begin after the first one, and where the block ends."""
    depth, nested, separated = 0, False, False
    last_line = text.rfind("\n", 0, start)
    for token in code_tokens(text, start, end):
        line = text.rfind("\n", 0, token.start)
        if line != last_line:
            last_line = line
            column = token.start - line - 1
            if column < block:
                yield "end", token.start
                return
            if column == block and depth == 0 and token.text not in {"|", "<;>", ")", "⟩", "]"}:
                nested, separated = False, False
                yield "start", token.start
        elif separated:
            yield "start", token.start
        separated = False
        if token.text in OPENERS:
            depth += 1
        elif token.text in CLOSERS:
            depth -= 1
            if depth < 0:
                yield "end", token.start
                return
        elif depth == 0 and _opens_block(text, token):
            nested = True
        elif token.text == ";" and depth == 0 and not nested:
            separated = True


def _opens_block(text: str, token: Token) -> bool:
    """Whether a block within the tactic begins; a dot begins one if a space follows."""
    if token.text == ".":
        return text[token.end : token.end + 1] == " "
    return token.text in _INNER_BLOCK
