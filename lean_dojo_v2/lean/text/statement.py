"""The end of a declaration's statement and the start of its proof, from the text alone."""

from collections.abc import Sequence
from itertools import pairwise

from lean_dojo_v2.lean.text.lexer import CLOSERS, OPENERS, Token, code_tokens

_BINDING_WORDS = frozenset({"let", "have", "letI", "haveI", "let_fun"})


def split_statement(text: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
    r"""Find the end of a statement and the start of its proof.

    The proof follows the first ``:=`` outside of brackets, comments and strings that does not
    belong to a ``let`` and its like inside the statement; or it begins with the first alternative
    of a pattern matching (``theorem f : ∀ n, P n⏎ | 0 => …``). Returned are the index of the ``:=``
    and that after it, or the index after the statement and that of the first alternative. The
    search begins at ``start``, not behind the declaration's name.

    >>> split_statement("theorem t (n := 1) : let m := n; m = n := by rfl")
    (39, 41)
    >>> split_statement("theorem t : ∀ n : Nat, n = n\n  | 0 => rfl")
    (28, 31)
    """
    words = list(code_tokens(text, start, end))
    depth = 0
    pending = 0
    matching = False
    for index, (before, token) in enumerate(pairwise([Token("symbol", start, start, ""), *words])):
        if token.text in OPENERS:
            depth += 1
        elif token.text in CLOSERS:
            depth -= 1
        elif depth:
            continue
        elif token.text in _BINDING_WORDS:
            pending += 1
        elif token.text == "match":
            matching = True
        elif token.text == ":=" and pending:
            pending -= 1
        elif token.text == ":=":
            return token.start, token.end
        elif (
            token.text == "|"
            and not matching
            and "\n" in text[before.end : token.start]
            and _is_alternative(text, words[index:])
        ):
            return before.end, token.start
    return None


def _is_alternative(text: str, words: Sequence[Token]) -> bool:
    """Whether a bar begins an alternative (``| 0 => …``), not an absolute value (``|x| ≤ 1``)."""
    depth = 0
    bar = words[0]
    for word in words:
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if depth == 0 and word.text in {"=>", ":="}:
            apart = text[bar.end].isspace() or "\n" not in text[bar.end : word.start]
            return word.text == "=>" and apart
    return False
