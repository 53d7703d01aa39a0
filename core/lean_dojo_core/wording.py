"""Wording of messages: numbers with their nouns, and what an unknown name may have meant."""

import re
from collections.abc import Iterable

LISTED = 30
"""Maximum number of known names that a message lists."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """Write a number with its noun, whose plural ends in ``s`` if none is given.

    >>> counted(1, "file"), counted(2, "file"), counted(2, "repository", "repositories")
    ('1 file', '2 files', '2 repositories')
    """
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def did_you_mean(
    name: str, known: Iterable[str], nested: Iterable[str] = (), *, heading: str = ""
) -> str:
    """Return `` Did you mean …?`` with up to three similar names, and the known names.

    Up to 30 of those are listed; beside similar ones only with a heading. ``nested`` are dotted
    names below them, such as ``config.lr``, whose last part is compared.

    >>> did_you_mean("learning_rate", ["lr", "epochs"]), did_you_mean("zzz", ["lr", "epochs"])
    (" Did you mean 'lr'?", ' It has: lr, epochs.')
    >>> did_you_mean("max_epoch", ["config"], ["config.max_epochs"], heading="Settings")
    " Did you mean 'config.max_epochs'? Settings: config."
    >>> did_you_mean("zzz", map(str, range(577)))[-25:]
    '27, 28, 29, and 547 more.'
    """
    known = list(known)
    scores = {one: _likeness(name, one) for one in known}
    for one in nested:
        scores.setdefault(one, 0.9 * _likeness(name, one.rpartition(".")[2]))
    best = max(scores.values(), default=0.0)
    close = [one for one, score in scores.items() if score >= max(0.54, best - 0.1)]
    close = sorted(close, key=lambda one: -scores[one])[:3]
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    if close and not heading:
        return hint
    listed = [*known[:LISTED], *([f"and {len(known) - LISTED} more"] if known[LISTED:] else [])]
    return f"{hint} {heading or 'It has'}: {', '.join(listed) or 'none'}."


def _likeness(name: str, option: str) -> float:
    """Compare two names, from 0 to 1: by letters, by words, and as an abbreviation."""
    import difflib  # only for these messages

    one, other = name.lower(), option.lower()
    words, others = re.split(r"[\W_]+", one), re.split(r"[\W_]+", other)
    if other == "".join(word[:1] for word in words) or one == "".join(word[:1] for word in others):
        return 1.0
    within = set(words) <= set(others) or set(words) >= set(others)
    return max(0.75 if within else 0.0, difflib.SequenceMatcher(None, one, other).ratio())
