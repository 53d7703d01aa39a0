"""The corpus: the premises of the exported files, and which of them a theorem may use.

The files that a file imports are a bit row, so that thousands of files take a few megabytes.
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from lean_dojo_core import Position, Premise, PremiseFile
from lean_dojo_core.errors import DataError
from lean_dojo_core.records import MARK_CLOSE, MARK_OPEN
from lean_dojo_v2.data import dependencies_first
from lean_dojo_v2.database import read_corpus
from lean_dojo_v2.errors import UnreadableFileError

log = logging.getLogger(__name__)

Numbers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Bits: TypeAlias = npt.NDArray[np.uint8]

DEPENDENCIES = ".lake/packages/"
COLUMNS_PER_LINE = 1 << 20
"""Positions are kept as ``line * 2**20 + column``: one number, in the order of the file."""


def pack_position(position: Position) -> int:
    """Make a position one number that sorts as positions do.

    >>> pack_position((1, 900)) < pack_position((2, 1))
    True
    """
    line, column = position
    return line * COLUMNS_PER_LINE + min(column, COLUMNS_PER_LINE - 1)


@attrs.frozen(eq=False)
class Visibility:
    """The accessible premises of each file: the small part of a corpus, for data loaders.

    Premises are numbered file by file, in the order of the corpus, inside a file by position.
    """

    file_starts: Numbers  # int64[F + 1]: number of each file's first premise
    ends: Numbers  # int64[P]: packed position where each premise ends (exclusive)
    reach: Bits  # [F, F]: the transitive imports of each file

    def file_of(self, premise: int) -> int:
        """Return the file of a premise."""
        return int(np.searchsorted(self.file_starts, premise, side="right")) - 1

    def mask(self, file: int, before: int) -> Mask:
        """Return which premises a theorem at this packed position may use: ``bool[P]``."""
        seen = np.unpackbits(self.reach[file], count=len(self.file_starts) - 1).view(np.bool_)
        usable: Mask = np.repeat(seen, np.diff(self.file_starts))
        own = slice(*self.file_starts[file : file + 2])
        usable[own] = self.ends[own] <= before
        return usable


@attrs.frozen(eq=False)
class Corpus:
    """All premises, by number."""

    paths: tuple[str, ...]
    visibility: Visibility
    premises: tuple[Premise, ...] = attrs.field(repr=False)
    starts: Numbers  # int64[P]: packed positions
    fingerprint: str  # digest of the content; indexes are tied to it
    _numbers: dict[str, int] = attrs.field(repr=False)

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a ``corpus.jsonl``; a ``DataError`` says what is missing or bad, and where."""
        if not Path(path).is_file():
            what = (
                "there is no such corpus; export one with `lean-dojo database export`, or name one"
            )
            raise UnreadableFileError(what, path=path)
        return cls.build(read_corpus(path), source=path)

    @classmethod
    def build(cls, files: Iterable[PremiseFile], *, source: Path | str = "corpus") -> Self:
        """Build a corpus from files in any order; of several with the same path the first wins."""
        imports: dict[str, tuple[str, ...]] = {}
        counts: list[int] = []
        premises: list[Premise] = []
        digest = hashlib.blake2b(digest_size=16)
        for file in files:
            if file.path in imports:
                continue
            imports[file.path] = file.imports
            counts.append(len(file.premises))
            premises += sorted(file.premises, key=lambda p: (p.start, (-p.end[0], -p.end[1])))
            digest.update("\0".join((file.path, *file.imports, "")).encode())
            digest.update(f"{counts[-1]}\0".encode())
        starts, ends = (
            np.array([pack_position(getattr(p, place)) for p in premises], dtype=np.int64)
            for place in ("start", "end")
        )
        for premise, start, end in zip(premises, starts, ends, strict=True):
            digest.update(f"{premise.full_name}\0{premise.code}\0{start}\0{end}\0".encode())
        visibility = Visibility(
            file_starts=np.cumsum([0, *counts], dtype=np.int64),
            ends=ends,
            reach=closure(imports, source),
        )
        return cls(
            paths=tuple(imports),
            visibility=visibility,
            premises=tuple(premises),
            starts=starts,
            fingerprint=digest.hexdigest(),
            numbers={path: number for number, path in enumerate(imports)},
        )

    def __len__(self) -> int:
        """Count the premises."""
        return len(self.premises)

    def file_number(self, path: str) -> int | None:
        """Return a file's number, ``None`` if the corpus lacks it."""
        return self._numbers.get(path)

    def path_of(self, number: int) -> str:
        """Return the file of a premise."""
        return self.paths[self.visibility.file_of(number)]

    @property
    def texts(self) -> Iterator[str]:
        """All premises as the encoder reads them, made while iterating."""
        return (premise_text(one.full_name, one.code) for one in self.premises)

    def locate(self, path: str, position: Position, full_name: str = "") -> int | None:
        """Return the premise of a file whose span holds a position; ``None`` if there is none.

        Spans may nest (a structure and its fields) or coincide: of several, the one called
        ``full_name`` wins, else the innermost.
        """
        file = self.file_number(path)
        if file is None:
            return None
        first, last = (int(n) for n in self.visibility.file_starts[file : file + 2])
        place = pack_position(position)
        before = int(np.searchsorted(self.starts[first:last], place, side="right"))
        # An end is exclusive, yet LeanDojo 1.x data also has inclusive ones: take both.
        held = first + np.flatnonzero(self.visibility.ends[first : first + before] >= place)
        if not len(held):
            return None
        wanted = full_name.removeprefix("_root_.")
        named = [int(one) for one in held if self.premises[one].full_name == wanted]
        return named[-1] if named else int(held[-1])


def premise_text(full_name: str, code: str) -> str:
    """Return a premise as the encoder reads it: its code with its name marked.

    The rule is ReProver's (Yang et al. 2023, "LeanDojo"): the longest suffix of the full name that
    occurs in the code after white space becomes ``<a>full_name</a>``. If the code does not contain
    the name (an anonymous instance), the marked name goes in front.

    >>> premise_text("Nat.add_comm", "theorem add_comm (a b : Nat) : a + b = b + a")
    'theorem <a>Nat.add_comm</a> (a b : Nat) : a + b = b + a'
    >>> premise_text("instInhabitedNat", "instance : Inhabited Nat := ⟨0⟩")
    '<a>instInhabitedNat</a> instance : Inhabited Nat := ⟨0⟩'
    """
    marked = f"{MARK_OPEN}{full_name}{MARK_CLOSE}"
    rooted = f"_root_.{full_name}"
    if rooted in code:
        return code.replace(rooted, marked)
    parts = full_name.split(".")
    for first in range(len(parts)):
        suffix = ".".join(parts[first:])
        if suffix not in code:  # much cheaper than the expression below
            continue
        # A name goes on with letters, digits, `_`, `'`, `!`, `?`, `.`: those may not follow.
        pattern = rf"(?<=\s)«?{re.escape(suffix)}»?(?![\w'!?]|\.\w)"
        found, changes = re.subn(pattern, lambda _: marked, code)
        if changes:
            return found
    return f"{marked} {code}"


def closure(imports: Mapping[str, Sequence[str]], source: Path | str) -> Bits:
    """Compute which files each file reaches through its imports, itself excluded, as rows of bits.

    They are ``uint8[F, ceil(F / 8)]``: 5,000 files take 3 MB. A dependency (a path below
    ``.lake/packages/``) that was not traced has no premises to offer: it is skipped with one
    message. Any other path that the corpus does not have is a ``DataError``, and so is a cycle.
    """
    number = {path: index for index, path in enumerate(imports)}
    reach = np.zeros((len(number), (len(number) + 7) // 8), dtype=np.uint8)
    untraced: set[str] = set()
    for path in dependencies_first(imports, source):
        row = reach[number[path]]
        for name in imports[path]:
            other = number.get(name)
            if other is not None:
                row |= reach[other]
                row[other >> 3] |= 128 >> (other & 7)  # numpy's packbits order
            elif name.startswith(DEPENDENCIES):
                untraced.add(name)
            else:
                raise DataError(
                    f"{path} imports {name}, which the corpus does not contain; export it again "
                    "with that file, or remove the import",
                    path=source,
                    place=path,
                )
    if untraced:
        log.info(
            "%s: %d imported file(s) of dependencies were not traced, so their premises cannot be "
            "retrieved, for example %s",
            source,
            len(untraced),
            min(untraced),
        )
    return reach
