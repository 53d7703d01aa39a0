r"""The split of a theorem, which never changes.

Nothing is shuffled or counted: a theorem's split follows from a hash of its names
(``random``) or of the names of the premises it uses (``novel_premises``). So a theorem that was
held out at one step of a curriculum is never trained on at a later one, whatever is added.

``random``
    u = first 8 bytes of SHA-256 of ``"url\nfile_path\nfull_name"`` (UTF-8, big-endian) / 2**64,
    with the url as :func:`same_address` spells it;
    train if u < 0.6, val if u < 0.8, else test. About 60/20/20.

``novel_premises``
    A premise is held out if the same hash of ``"premise\nfull_name"`` is below
    :data:`HELD_OUT_PREMISES`. A theorem that uses a held-out premise is held out with it, and its
    own hash decides between val and test; every other theorem is in train. So each val or
    test theorem uses a premise that no train theorem uses. A theorem's chance to be held out
    grows with the number of premises it uses; the fraction below was chosen so that about 40 %
    of the theorems of a real library (Batteries) are.
"""

import re
from functools import lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from lean_dojo_core.records import NO_GOALS, Theorem

Split: TypeAlias = Literal["train", "val", "test"]
Strategy: TypeAlias = Literal["random", "novel_premises"]

SPLITS: tuple[Split, ...] = get_args(Split)
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

HELD_OUT_SPLITS = frozenset({"val", "valid", "validation", "test"})
"""Names of held-out splits in databases and problem files."""

TRAIN, VAL = 0.6, 0.2
HELD_OUT_PREMISES = 0.2

_SCP = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+):(?!//)(?P<path>.+)")
_ADDRESS = re.compile(r"(?:https?|ssh|git)://(?:[^@/]+@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)")


def unit_hash(text: str) -> float:
    """Map a text to a number in [0, 1] that never changes: 8 bytes of SHA-256 / 2**64."""
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]) / 2**64


def split_of(theorem: Theorem) -> Split:
    """Return the theorem's split under the strategy ``random``."""
    place = unit_hash(name_across_commits(theorem))
    if place < TRAIN:
        return "train"
    return "val" if place < TRAIN + VAL else "test"


def novel_premises_split_of(theorem: Theorem) -> Split:
    """Return the theorem's split under the strategy ``novel_premises``.

    A different hash than that of the random split decides between val and test, so that neither
    follows from the other.
    """
    exported = (t for t in theorem.traced_tactics if t.state_before != NO_GOALS)
    if not any(
        is_held_out(premise.full_name) for tactic in exported for premise in tactic.premises
    ):
        return "train"
    return "val" if unit_hash(f"held out\n{name_across_commits(theorem)}") < 0.5 else "test"


def name_across_commits(theorem: Theorem) -> str:
    """Return the name of a theorem that determines its splits."""
    return f"{same_address(theorem.url)}\n{theorem.file_path}\n{theorem.full_name}"


@lru_cache(maxsize=1 << 10)
def same_address(url: str) -> str:
    """Normalise the addresses of one repository, so that all share their splits.

    >>> same_address("git@GitHub.com:lean-dojo/sample.git")
    'https://github.com/lean-dojo/sample'
    >>> same_address("ssh://git@github.com/lean-dojo/sample/")
    'https://github.com/lean-dojo/sample'
    """
    url = url.rstrip("/").removesuffix(".git")
    match = _SCP.fullmatch(url) or _ADDRESS.fullmatch(url)
    return f"https://{match['host'].lower()}/{match['path']}" if match else url


@lru_cache(maxsize=1 << 16)
def is_held_out(full_name: str) -> bool:
    """Whether a premise is held out: no train theorem may use it.

    Only the name counts, not the file: one constant may be seen at several paths.
    """
    name = full_name.removeprefix("_root_.")
    return unit_hash(f"premise\n{name}") < HELD_OUT_PREMISES
