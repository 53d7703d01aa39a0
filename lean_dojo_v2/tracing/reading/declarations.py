"""Declarations in the text: range, keyword and statement."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import attrs

from lean_dojo_v2.lean.text.lexer import CLOSERS, OPENERS, Token, code_tokens, tokens
from lean_dojo_v2.lean.text.statement import split_statement
from lean_dojo_v2.tracing.reading.records import Definition, TracedCommand

KEYWORDS = frozenset(
    {"theorem", "lemma", "def", "abbrev", "opaque", "axiom", "instance", "inductive", "coinductive"}
    | {"structure", "class", "alias", "irreducible_def", "proof_wanted"}
)
THEOREMS = frozenset({"theorem", "lemma"})
MODIFIERS = frozenset(
    {"private", "protected", "public", "noncomputable", "partial", "unsafe", "nonrec", "meta"}
    | {"scoped", "local", "class"}
)


@attrs.frozen
class Declaration:
    """A declaration of a file.

    Attributes:
        full_name: Its name, as the user writes it if private.
        constant: Its name as Lean has it.
        keyword: ``theorem``, ``def``, ``structure``, …
        outer: Index of its start, including its docstring.
        start: Index of its first modifier or keyword.
        name_end: Index after its name.
        end: Index after its last character.
    """

    full_name: str
    constant: str
    keyword: str
    outer: int
    start: int
    name_end: int
    end: int

    @property
    def is_theorem(self) -> bool:
        """Whether it is a ``theorem`` or a ``lemma``."""
        return self.keyword in THEOREMS


def between(starts: Sequence[int], start: int, end: int) -> slice:
    """Return which of some ordered starts are in a range of the text."""
    return slice(bisect_left(starts, start), bisect_left(starts, end))


def declarations(
    text: str, commands: Iterable[TracedCommand], definitions: Iterable[Definition]
) -> list[Declaration]:
    """Find the declaration of each definition, also within a ``mutual`` block.

    Constructors, fields, ``where`` functions and generated constants are not declarations.
    """
    ordered = sorted(definitions, key=lambda definition: (definition.start, definition.end))
    starts = [definition.start for definition in ordered]
    found: list[Declaration] = []
    for command in commands:
        if named := ordered[between(starts, command.start, command.end)]:
            found.extend(_of_command(text, command, named))
    return sorted(found, key=lambda declaration: declaration.start)


def _of_command(
    text: str, command: TracedCommand, definitions: Sequence[Definition]
) -> list[Declaration]:
    words = [t for t in tokens(text, command.start, command.end) if t.kind != "comment"]
    token_at = {token.start: index for index, token in enumerate(words)}
    heads: dict[int, tuple[Definition, int, int]] = {}
    for definition in definitions:
        index = token_at.get(definition.start)
        keyword = None if index is None else _keyword_before(words, index)
        if keyword is not None:
            outer, start = modifiers_before(words, keyword)
            heads.setdefault(keyword, (definition, outer, start))
    if not heads:
        return []
    stop = len(words) - (words[0].text == "mutual" and words[-1].text == "end")
    order = sorted(heads)
    ends = [heads[after][1] for after in order[1:]] + [stop]
    return [
        Declaration(
            definition.full_name,
            definition.constant,
            words[keyword].text,
            words[outer].start,
            words[start].start,
            max(definition.end, words[keyword].end),
            words[end - 1].end,
        )
        for keyword, end in zip(order, ends, strict=True)
        for definition, outer, start in [heads[keyword]]
    ]


def _keyword_before(words: Sequence[Token], name: int) -> int | None:
    """Return the index of the keyword that the name at ``name`` follows, or is."""
    if words[name].text == "instance":  # a nameless instance is located by its keyword
        return name
    index = name - 1
    if index >= 0 and words[index].text == ")":  # instance (priority := low) name
        index = _opening(words, index) - 1
        return index if index >= 0 and words[index].text == "instance" else None
    return index if index >= 0 and words[index].text in KEYWORDS else None


def modifiers_before(words: Sequence[Token], keyword: int) -> tuple[int, int]:
    """Return the indices of the first word with and without the docstring."""
    start = keyword
    while start > 0:
        before = start - 1
        if words[before].text == "]":
            opening = _opening(words, before)
            if words[opening].text != "@[":
                break
            start = opening
        elif words[before].text in MODIFIERS:
            start = before
        else:
            break
    outer = start - 1 if start > 0 and words[start - 1].kind == "doc" else start
    return outer, start


def _opening(words: Sequence[Token], closing: int) -> int:
    depth = 0
    for index in range(closing, -1, -1):
        if words[index].text in CLOSERS:
            depth += 1
        elif words[index].text in OPENERS:
            depth -= 1
            if depth == 0:
                return index
    return 0


def statement(text: str, declaration: Declaration, end: int | None = None) -> tuple[str, int]:
    """Separate the statement of a theorem.

    ``end`` is its end by Lean's parser; default: read from the text.

    The statement is the source text up to and with the ``:=`` before the proof. A proof by pattern
    matching (``theorem f : ∀ n, P n | 0 => …``) has no ``:=``; the statement then gets one, so that
    statement and proof always make a theorem.

    Returns:
        The statement, and the index where the proof starts.
    """
    found = _cut(text, declaration, end)
    if found is None:
        return text[declaration.start : declaration.end], declaration.end
    end, proof = found
    if text[end:proof] == ":=":
        return text[declaration.start : proof], proof
    return f"{text[declaration.start : end]} :=", proof


def _cut(text: str, declaration: Declaration, end: int | None) -> tuple[int, int] | None:
    if end is None or not declaration.name_end <= end <= declaration.end:
        return split_statement(text, declaration.name_end, declaration.end)
    after = next(code_tokens(text, end, declaration.end), None)
    if after is None:
        return None
    return (after.start, after.end) if after.text == ":=" else (end, after.start)
