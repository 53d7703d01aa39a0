"""The declarations of a file: range, keyword and statement.

Lean says what its own commands declare. Commands of the project's own (``lemma foo : … := …``,
``mkthm foo by simp``) may declare something, too: they are read from the text, and the first name
that they define counts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import attrs

from lean_dojo_v2.lean import CLOSERS, OPENERS, Token, all_tokens, code_tokens, split_statement
from lean_dojo_v2.tracing.reading.names import user_name
from lean_dojo_v2.tracing.reading.records import Declared, Definition, Span

KEYWORDS = frozenset(
    {"theorem", "lemma", "def", "abbrev", "opaque", "axiom", "instance", "inductive", "coinductive"}
    | {"structure", "class", "alias", "irreducible_def", "proof_wanted"}
)
"""First words of what is a premise, or a theorem."""
THEOREMS = frozenset({"theorem", "lemma"})
_MODIFIERS = frozenset(
    {"private", "protected", "public", "noncomputable", "partial", "unsafe", "nonrec", "meta"}
    | {"scoped", "local"}
)
_PREFIXES = frozenset(
    {"open", "set_option", "include", "omit", "variable", "universe", "attribute", "#"}
)
"""Keywords of prefixes that end in ``in``, before a command."""


@attrs.frozen
class Declaration:
    """A declaration of a file, by indices into its text; an anonymous one is named after its line.

    The ``full_name`` is as the user writes it, ``constant`` as Lean has it. The text is that from
    ``outer``, with a docstring, or ``start``, the first modifier or keyword, to before ``end``.
    There is no ``statement_end`` by Lean's parser if the project's own command declares it.
    """

    full_name: str
    constant: str
    keyword: str
    outer: int
    start: int
    end: int
    statement_end: int | None

    @property
    def is_theorem(self) -> bool:
        """Whether it is a ``theorem`` or a ``lemma``."""
        return self.keyword in THEOREMS


def between(starts: Sequence[int], start: int, end: int) -> slice:
    """Return which of some ordered starts are in a range of the text."""
    return slice(bisect_left(starts, start), bisect_left(starts, end))


def declarations(
    text: str,
    commands: Iterable[Span],
    declared: Iterable[Declared],
    definitions: Iterable[Definition],
    steps: Sequence[int],
) -> tuple[list[Declaration], list[Declaration]]:
    """Find the named declarations of a file, and those outside theorems with tactics, in order.

    Constructors, fields, ``where`` functions and generated constants are not declarations.
    ``steps`` are the starts of the file's tactics, in order.
    """
    known = sorted(declared, key=lambda one: one.start)
    named = sorted(definitions, key=lambda definition: definition.start)
    known_at, named_at = [one.start for one in known], [one.start for one in named]
    found: list[Declaration] = []
    elsewhere: list[Declaration] = []
    for start, end in commands:
        own = known[between(known_at, start, end)]
        inside = named[between(named_at, start, end)]
        each = [_declaration(text, one.start, one.end, one, ()) for one in own]
        if not own and (inside or steps[between(steps, start, end)]):
            each = [_declaration(text, start, end, None, inside)]
        for one, is_named in each:
            if is_named and one.keyword in KEYWORDS:
                found.append(one)
            if not one.is_theorem and steps[between(steps, one.outer, one.end)]:
                elsewhere.append(one)
    return found, elsewhere


def _declaration(
    text: str, start: int, end: int, known: Declared | None, definitions: Sequence[Definition]
) -> tuple[Declaration, bool]:
    """Read one declaration, and whether it has a name."""
    words = [t for t in all_tokens(text, start, end) if t.kind != "comment"]
    outer, first, keyword = _head(words)
    head = words[keyword]
    word = text[head.start : words[keyword + 1].end] if head.text == "#" else head.text
    constant = None if known is None or word == "example" else known.constant
    constant = next((d.constant for d in definitions if d.start >= head.end), constant)
    line = text.count("\n", 0, words[first].start) + 1
    name = constant or f"{word}_at_line_{line}"
    made = Declaration(
        user_name(name),
        name,
        word,
        words[outer].start,
        words[first].start,
        words[-1].end,
        None if known is None else known.statement_end,
    )
    return made, constant is not None


def _head(words: Sequence[Token]) -> tuple[int, int, int]:
    """Return the indices of the docstring or first word, the first modifier, and the keyword.

    They follow ``open … in`` and similar prefixes.
    """
    outer = depth = 0
    for index, word in enumerate(words[:-1]):
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if word.text in {":=", "by"}:
            break
        if depth == 0 and word.text == "in" and words[outer].text in _PREFIXES:
            outer = index + 1
    first = keyword = min(outer + (words[outer].kind == "doc"), len(words) - 1)
    depth = 0
    for index, word in enumerate(words[first:], first):  # attributes and modifiers
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if depth == 0 and word.text not in _MODIFIERS | CLOSERS:
            keyword = index
            break
    texts = [word.text for word in words[keyword : keyword + 2]]
    if texts in (["class", "inductive"], ["class", "abbrev"]):
        keyword += 1
    return outer, first, keyword


def statement(text: str, declaration: Declaration) -> tuple[str, int]:
    """Return the statement of a theorem, and the index where the proof starts.

    The statement is the source text up to and with the ``:=`` before the proof. A proof by pattern
    matching (``theorem f : ∀ n, P n | 0 => …``) has no ``:=``; the statement then gets one, so that
    statement and proof always make a theorem.
    """
    start, stop = declaration.start, declaration.end
    if declaration.statement_end is None:
        found = split_statement(text, start, stop)
    else:
        after = next(code_tokens(text, declaration.statement_end, stop), None)
        found = None if after is None else (declaration.statement_end, after.start)
        if after is not None and after.text == ":=":
            found = after.start, after.end
    if found is None:
        return text[start:stop], stop
    end, proof = found
    return f"{text[start:end]} :=" if text[end:proof] != ":=" else text[start:proof], proof
