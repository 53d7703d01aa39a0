"""Declarations that stand before a proof: lemmas and definitions that a model states first.

A proof is a block of tactics, perhaps after such declarations. Each begins a line at the margin and
ends before the next such line::

    def same (l : List Nat) : Prop := l ++ [] = l
    theorem same_all (l : List Nat) : same l := by simp [same]
    exact same_all
"""

import re
from collections.abc import Iterator
from itertools import takewhile

HELPER_DECLARATION = re.compile(
    r"(?P<attributes>(?:@\[[^\]\n]*\]\s*)*)"
    r"(?:(?:private|protected|noncomputable|nonrec)\s+)*"
    r"(?P<keyword>theorem|lemma|def|abbrev|inductive|structure)\s+(?P<name>(?:\.(?!\{)|[^\s:({\[⦃.])+)"
)
"""The beginning of a declaration that may stand before a proof."""
_CONTINUES = re.compile(r"\s|\||:=|by\b|where\b|termination_by\b|decreasing_by\b|--|-/|\Z")
"""The beginning of a line that belongs to the declaration before it."""


def declarations_of(text: str) -> Iterator[str]:
    r"""Split a text before each line at its margin that continues nothing.

    >>> list(declarations_of("theorem t : p\n| 0 => rfl\n\n@[simp]\ndef a := 1"))
    ['theorem t : p\n| 0 => rfl', '@[simp]\ndef a := 1']
    """
    lines: list[str] = []
    for line in text.split("\n"):
        attributes = bool(lines) and re.fullmatch(r"@\[[^\]]*\]\s*", lines[-1])
        if lines and not attributes and not _CONTINUES.match(line):
            yield "\n".join(lines).rstrip()
            lines = []
        if lines or line.strip():
            lines.append(line)
    if lines:
        yield "\n".join(lines).rstrip()


def split_helpers(proof: str) -> tuple[list[str], str]:
    r"""Split a proof into the declarations before it, and its block of tactics.

    >>> split_helpers("def a := 1\n\nintro n\nrfl"), split_helpers("rfl")
    ((['def a := 1'], 'intro n\nrfl'), ([], 'rfl'))
    """
    if not HELPER_DECLARATION.match(proof.lstrip("\n")):
        return [], proof
    found = list(declarations_of(proof))
    helpers = list(takewhile(HELPER_DECLARATION.match, found))
    return helpers, "\n".join(found[len(helpers) :])


def join_helpers(helpers: list[str]) -> str:
    """Return the declarations as the text before a theorem."""
    return "".join(f"{helper}\n\n" for helper in helpers)
