"""Similar names, for messages about an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable


def suggestion(
    name: str,
    known: Iterable[str],
    nested: Iterable[str] = (),
    *,
    heading: str = "It has",
    always: bool = False,
) -> str:
    """Return `` Did you mean …?`` or, without similar names, the known ones.

    Args:
        name: The unknown name.
        known: The names that exist.
        nested: Dotted names below them, such as ``config.lr``; the last part is compared.
        heading: What comes before the known names.
        always: List the known names beside similar ones, too.

    >>> suggestion("LR", ["lr", "epochs"])
    " Did you mean 'lr'?"
    >>> suggestion("max_epoch", ["config"], ["config.max_epochs"])
    " Did you mean 'config.max_epochs'?"
    >>> suggestion("zzz", ["lr", "epochs"])
    ' It has: lr, epochs.'
    """
    known = list(known)
    close = near(name, known, nested)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return hint if close and not always else f"{hint} {heading}: {', '.join(known) or 'none'}."


def near(name: str, known: Iterable[str], nested: Iterable[str] = ()) -> list[str]:
    """Return up to three similar names, the most similar first.

    >>> near("learning_rate", ["lr", "formatter"]), near("epochs", ["epochs_per_repo", "seed"])
    (['lr'], ['epochs_per_repo'])
    """
    scores = {one: _likeness(name, one) for one in known}
    for one in nested:
        scores.setdefault(one, 0.9 * _likeness(name, one.rpartition(".")[2]))
    best = max(scores.values(), default=0.0)
    close = [one for one, score in scores.items() if score >= max(0.54, best - 0.1)]
    return sorted(close, key=lambda one: -scores[one])[:3]


def _likeness(name: str, option: str) -> float:
    """Compare two names, from 0 to 1: by letters, by words, and as an abbreviation."""
    import difflib  # only for these messages

    one, other = name.lower(), option.lower()
    words, others = re.split(r"[\W_]+", one), re.split(r"[\W_]+", other)
    if other == "".join(word[:1] for word in words) or one == "".join(word[:1] for word in others):
        return 1.0
    within = set(words) <= set(others) or set(words) >= set(others)
    return max(0.75 if within else 0.0, difflib.SequenceMatcher(None, one, other).ratio())
