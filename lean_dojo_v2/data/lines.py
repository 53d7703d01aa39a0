"""Convert multi-line tactics to a single line that leads to the same goals.

A proof by cases is written over several lines, with the proof of each case inside. Its first step
fits on one: ``induction n with | zero => ?_ | succ n ih => ?_`` leaves each case as a goal,
and the steps inside follow as steps of their own.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from lean_dojo_v2.lean import CLOSERS, OPENERS, Token, code_tokens, without_comments

_WITH_CASES = frozenset({"induction", "cases", "match", "fun_induction", "fun_cases"})
_WITH_PROOF = frozenset({"have", "refine", "refine'", "apply"})
"""Keywords whose proof may be replaced by a hole."""
_SEQUENCES = frozenset(
    {"·", ".", "{", "(", "case", "case'", "all_goals", "any_goals", "repeat", "repeat'", "try"}
    | {"focus", "on_goal", "iterate", "conv", "calc", "stop"}
)
"""Tactics that begin with these contain other tactics, which are steps themselves."""
_LAID_OUT = frozenset({"by", "do", "calc", "match", "where", "·", "conv", ";"})
"""After these, items are separated by line breaks."""
_IN_TERMS = frozenset({"let", "have", "suffices", "letI", "haveI", "open", "set_option"})
"""The same for these, unless they begin the tactic."""


def one_line(tactic: str) -> str | None:
    r"""Return a tactic, at the left margin as traces have it, as one line with the same goals.

    It has ``?_`` for inner proofs; ``None`` if there is none: bullets and other blocks, whose steps
    are steps themselves, and terms whose layout matters.

    >>> one_line("induction n with\n| zero => rfl\n| succ n ih =>\n  simp\n  exact ih")
    'induction n with | zero => ?_ | succ n ih => ?_'
    >>> one_line("have h : p := by\n  intro x\n  exact hp x")
    'have h : p := ?_'
    >>> one_line("simp only [a,\n  b]")
    'simp only [a, b]'
    >>> one_line("· rfl\n  done") is None
    True
    """
    text = without_comments(tactic)
    if "\n" not in text:
        return text
    words = list(code_tokens(text))
    if not words or any("\n" in word.text for word in words):  # a string of several lines
        return None
    first = words[0].text
    if first in _SEQUENCES:
        return None
    if first in _WITH_CASES:
        return _cases(text, words)
    if first == "next":  # besides containing steps, it only names
        named = [word.text for word in takewhile(lambda word: word.text != "=>", words[1:])]
        return " ".join(["rename_i", *named]) if named else None
    if first == "if":
        return _branches(text, words)
    # A `·` within a line is an argument as in `(f · a)`, not a bullet.
    laid_out = [
        word
        for word in words
        if (word.text in _LAID_OUT and (word.text != "·" or _begins_line(text, word)))
        or (word.text in _IN_TERMS and word.start > 0)
    ]
    if not laid_out:
        return None if _has_blocks(words) or _has_fields(text, words) else _joined(text)
    if first == "obtain":
        return _stated(text, words, laid_out[0])
    return _with_hole(text, words, laid_out[0]) if first in _WITH_PROOF else None


def _cases(text: str, words: Sequence[Token]) -> str | None:
    """Return ``induction … with | a => ?_ | b => ?_`` for one whose cases begin lines."""
    bars = [word for word in words if word.text == "|" and _begins_line(text, word)]
    if not bars:
        return None
    column = min(_column(text, bar) for bar in bars)
    starts = [bar.start for bar in bars if _column(text, bar) == column]
    head = text[: starts[0]].rstrip()
    if not any(word.text == "with" for word in code_tokens(head)):
        return None
    alternatives = [
        _opened(text[start:end])
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    return " ".join([_joined(head), *alternatives]) if "=>" in alternatives[-1] else None


def _opened(alternative: str) -> str:
    """Return ``| p => ?_``; a pattern that shares the next one's proof is unchanged."""
    depth = 0
    for word in code_tokens(alternative):
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if word.text == "=>" and depth == 0:
            return f"{_joined(alternative[: word.start])} => ?_"
    return _joined(alternative)


def _branches(text: str, words: Sequence[Token]) -> str | None:
    """Return ``if h : p then ?_ else ?_``."""
    then = [w for w in words if w.text == "then"]
    last = [w for w in words if w.text == "else" and _begins_line(text, w) and not _column(text, w)]
    if not then or not last:
        return None
    return f"{_joined(text[: then[0].end])} ?_ else ?_"


def _with_hole(text: str, words: Sequence[Token], by: Token) -> str | None:
    """Return ``have h : p := ?_`` if a proof follows to the end."""
    before = [word for word in words if word.start < by.start]
    depth = sum((word.text in OPENERS) - (word.text in CLOSERS) for word in before)
    if by.text != "by" or depth or before[-1].text != ":=":
        return None
    if before[0].text == "have" and before[1].text == "⟨":
        return None  # an unproved term cannot be destructured
    return f"{_joined(text[: by.start])} ?_"


def _stated(text: str, words: Sequence[Token], by: Token) -> str | None:
    """Return ``obtain p : t`` for ``obtain p : t := by …``; so Lean writes the goals of both."""
    if _with_hole(text, words, by) is None:
        return None
    return _joined(text[: by.start]).removesuffix(":=").rstrip() if _has_type(words, by) else None


def _has_type(words: Sequence[Token], by: Token) -> bool:
    depth = 0
    for word in words:
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        if word.start < by.start and word.text == ":" and depth == 0:
            return True
    return False


def _has_blocks(words: Sequence[Token]) -> bool:
    """Whether tactics follow a ``=>`` outside of brackets that no ``fun`` and no bar begins."""
    depth = functions = 0
    for word in words:
        depth += (word.text in OPENERS) - (word.text in CLOSERS)
        functions += word.text in {"fun", "λ", "|"}
        if word.text == "=>" and depth == 0:
            if functions == 0:
                return True
            functions -= 1
    return False


def _has_fields(text: str, words: Sequence[Token]) -> bool:
    """Whether fields of a structure are separated by line breaks, without commas."""
    pairs = zip(words, words[1:], words[2:], strict=False)
    return any(
        before.text not in {"{", ",", "with", "(", "[", "⟨"}
        and _begins_line(text, name)
        and name.kind == "ident"
        and assigned.text == ":="
        for before, name, assigned in pairs
    )


def _begins_line(text: str, word: Token) -> bool:
    return not text[text.rfind("\n", 0, word.start) + 1 : word.start].strip()


def _column(text: str, word: Token) -> int:
    return word.start - (text.rfind("\n", 0, word.start) + 1)


def _joined(text: str) -> str:
    """Join lines, keeping spaces inside strings."""
    pieces, position = [], 0
    for word in code_tokens(text):
        pieces += [re.sub(r"\s+", " ", text[position : word.start]), word.text]
        position = word.end
    return "".join(pieces).strip()
