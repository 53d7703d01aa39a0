"""Names as Lean has them and as users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lean_dojo_v2.tracing.reading.records import TracedFile

_PRIVATE = re.compile(r"_private\.(?:[^\s.]+\.)+?0\.")


def user_name(name: str) -> str:
    """Give a name as the user writes it: without the prefix that Lean gives private names.

    >>> user_name("_private.Sample.Logic.0.Sample.helper")
    'Sample.helper'
    """
    return _PRIVATE.sub("", name, count=1)


def resting_on_errors(files: Iterable[TracedFile]) -> set[str]:
    """Give the constants with an error in them and all that rest on one, directly or not.

    Lean takes a declaration with an error for proven, so that it can go on; what uses it, also
    unseen by ``simp``, proves nothing.

    Args:
        files: The files of a project, imported ones first.
    """
    unsound: set[str] = set()
    for file in files:
        unsound.update(file.broken)
        for constant, used in file.uses.items():
            if unsound and any(not unsound.isdisjoint(_prefixes(name)) for name in used):
                unsound.add(constant)
    return unsound


def _prefixes(name: str) -> Iterable[str]:
    """Give a name and its prefixes: ``A.b.match_1`` is a part of ``A.b``."""
    while name:
        yield name
        name = name.rpartition(".")[0]
