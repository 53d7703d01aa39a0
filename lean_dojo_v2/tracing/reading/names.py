"""Internal names of Lean, and names as users write them."""

import re
from collections.abc import Iterable
from itertools import accumulate, chain

from lean_dojo_v2.lean import NAME_PART, code_tokens
from lean_dojo_v2.tracing.reading.records import TracedFile

_NAME = re.compile(rf"{NAME_PART}\Z")
_BRACKETS = frozenset("({⦃")
_QUANTIFIERS = frozenset({"∀", "∃", "∃!", "λ", "fun"})
_PRIVATE = re.compile(r"_private\.(?:[^\s.]+\.)+?0\.")


def user_name(name: str) -> str:
    """Return a name as the user writes it: without the prefix that Lean gives private names.

    >>> user_name("_private.Sample.Logic.0.Sample.helper")
    'Sample.helper'
    """
    return _PRIVATE.sub("", name, count=1)


def resting_on_errors(files: Iterable[TracedFile]) -> set[str]:
    """Return the constants with an error and all that depend on one, directly or not.

    Lean treats a declaration with an error as proven, so that it can continue; anything that uses
    it, even implicitly by ``simp``, proves nothing. A failed definition may not exist at all, and
    its name in a statement then denotes an auto-bound variable. The project's files must be given
    with imported ones first.
    """
    unsound: set[str] = set()
    lost: dict[str, frozenset[str]] = {}
    for file in files:
        unsound.update(file.broken)
        lost[file.path] = frozenset(file.lost).union(*(lost.get(path, ()) for path in file.imports))
        unsound.update(
            theorem.constant
            for theorem in file.theorems
            if names_lost(theorem.statement, lost[file.path].intersection(theorem.variables))
        )
        for constant, used in file.uses.items():
            # A name and its prefixes, since `A.b.match_1` is a part of `A.b`.
            parts = (accumulate(name.split("."), "{}.{}".format) for name in used)
            if unsound and not unsound.isdisjoint(chain.from_iterable(parts)):
                unsound.add(constant)
    return unsound


def names_lost(statement: str, lost: Iterable[str]) -> bool:
    """Whether a statement mentions a lost name that it does not bind itself.

    >>> names_lost("theorem a : f 0 = 1 :=", ["f"]), names_lost("theorem a (f : p) : p :=", ["f"])
    (True, False)
    """
    words = list(code_tokens(statement))
    texts = [word.text for word in words]
    return any(
        name in texts and not any(_binds(texts, i) for i, text in enumerate(texts) if text == name)
        for name in lost
    )


def _binds(words: list[str], index: int) -> bool:
    """Whether the name at ``index`` is bound there: ``(f g : Nat)``, ``∀ f, …``."""
    first = last = index
    while first > 0 and _NAME.match(words[first - 1]):
        first -= 1
    while last + 1 < len(words) and _NAME.match(words[last + 1]):
        last += 1
    before, after = words[first - 1] if first else "", words[last + 1 : last + 2]
    if before in _BRACKETS:
        return after == [":"]
    return not _QUANTIFIERS.isdisjoint({before, words[first]})
