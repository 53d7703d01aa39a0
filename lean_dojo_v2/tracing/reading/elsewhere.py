"""Proofs outside theorems: in a ``def``, an ``instance``, an ``example``.

Their steps are training data like any other. A command of the project's own (``mkthm foo by simp``)
may also define a theorem, which only Lean knows; its keyword here is its first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lean_dojo_v2.lean.text.lexer import CLOSERS, OPENERS, Token, tokens
from lean_dojo_v2.tracing.reading.declarations import (
    MODIFIERS,
    Declaration,
    between,
    modifiers_before,
)
from lean_dojo_v2.tracing.reading.records import Definition, TracedCommand

EXAMPLE = "example"
_PREFIXES = frozenset(
    {"open", "set_option", "include", "omit", "variable", "universe", "attribute", "#"}
)
"""Keywords of prefixes that end in ``in``, before a command."""


def declarations_elsewhere(
    text: str,
    commands: Iterable[TracedCommand],
    definitions: Iterable[Definition],
    found: Sequence[Declaration],
    steps: Sequence[int],
) -> list[Declaration]:
    """Find the declarations outside theorems that contain tactics.

    Args:
        text: The file.
        commands: Its commands.
        definitions: What it defines.
        found: Its declarations found by keyword.
        steps: Starts of its tactics, in order.

    Returns:
        Declarations with a tactic in them, in order. An anonymous one is named after its line.
    """
    starts = [declaration.start for declaration in found]
    named = sorted(definitions, key=lambda definition: definition.start)
    others = [d for d in found if not d.is_theorem and steps[between(steps, d.start, d.end)]]
    for command in commands:
        known = starts[between(starts, command.start, command.end)]
        if not known and steps[between(steps, command.start, command.end)]:
            others.extend(_of_command(text, command, named))
    return sorted(others, key=lambda declaration: declaration.start)


def _of_command(
    text: str, command: TracedCommand, named: Sequence[Definition]
) -> Iterator[Declaration]:
    words = [t for t in tokens(text, command.start, command.end) if t.kind != "comment"]
    keyword = _keyword(words)
    outer, start = modifiers_before(words, keyword)
    head = words[keyword]
    word = text[head.start : words[keyword + 1].end] if head.text == "#" else head.text
    if word == "theorem":  # not among this file's definitions, because of an error
        return
    inside = (d for d in named if head.end <= d.start < command.end)
    own = None if word == EXAMPLE else next(inside, None)
    line = text.count("\n", 0, words[start].start) + 1
    nameless = f"{word}_at_line_{line}"
    yield Declaration(
        nameless if own is None else own.full_name,
        nameless if own is None else own.constant,
        word,
        words[outer].start,
        words[start].start,
        head.end if own is None else own.end,
        words[-1].end,
    )


def _keyword(words: Sequence[Token]) -> int:
    """Return the index of a command's keyword, after ``open … in`` and similar prefixes."""
    depth, first = 0, 0
    for index, word in enumerate(words):
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if depth == 0 and word.text == EXAMPLE:
            return index
        if word.text in {":=", "by"}:
            break
        if depth == 0 and word.text == "in" and words[first].text in _PREFIXES:
            first = index + 1
    depth = 0
    for index, word in enumerate(words[first:], first):
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if depth == 0 and word.kind != "doc" and word.text not in MODIFIERS | CLOSERS:
            return index
    return 0
