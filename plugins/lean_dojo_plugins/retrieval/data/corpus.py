"""The corpus: the premises of the exported files, and which of them a theorem may use.

The files that a file imports are a bit row, so that thousands of files take a few megabytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from lean_dojo_core import Position, Premise, PremiseFile
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.imports import Bits, closure
from lean_dojo_plugins.retrieval.data.texts import premise_text
from lean_dojo_v2.database.export.read import read_corpus

Numbers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

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

    Attributes:
        file_starts: ``int64[F + 1]``: number of each file's first premise.
        file_of: ``int32[P]``: each premise's file.
        ends: ``int64[P]``: packed position where each premise ends (exclusive).
        reach: Bits ``[F, F]``: the transitive imports of each file.
    """

    file_starts: Numbers
    file_of: npt.NDArray[np.int32]
    ends: Numbers
    reach: Bits

    @property
    def num_files(self) -> int:
        """F, the number of files."""
        return len(self.file_starts) - 1

    def files_seen(self, file: int) -> Mask:
        """Return for each file whether ``file`` imports it, directly or not: ``bool[F]``."""
        return np.unpackbits(self.reach[file], count=self.num_files).view(np.bool_)

    def in_file(self, file: int, before: int) -> Numbers:
        """Return the premises of ``file`` that end before the packed position ``before``."""
        first, last = self.file_starts[file], self.file_starts[file + 1]
        numbers: Numbers = first + np.flatnonzero(self.ends[first:last] <= before)
        return numbers

    def mask(self, file: int, before: int) -> Mask:
        """Return for each premise whether a theorem at that place may use it: ``bool[P]``."""
        seen = np.repeat(self.files_seen(file), np.diff(self.file_starts))
        seen[self.in_file(file, before)] = True
        return seen

    def sees(self, file: int, before: int, premises: Numbers) -> Mask:
        """Like :meth:`mask`, for some premises only: ``bool[len(premises)]``."""
        files = self.file_of[premises]
        bits = self.reach[file, files >> 3] & (128 >> (files & 7))
        seen: Mask = (bits != 0) | ((files == file) & (self.ends[premises] <= before))
        return seen


@attrs.frozen(eq=False)
class Corpus:
    """All premises, by number.

    Attributes:
        paths: File paths, in the order of the corpus.
        visibility: The accessible premises of each file.
        premises: The premises, file by file, by position.
        starts: ``int64[P]``: packed positions where they start.
        fingerprint: Digest of the content; indexes are tied to it.
    """

    paths: tuple[str, ...]
    visibility: Visibility
    premises: tuple[Premise, ...] = attrs.field(repr=False)
    starts: Numbers
    fingerprint: str
    _numbers: dict[str, int] = attrs.field(repr=False)

    @classmethod
    def read(cls, path: Path | str) -> Corpus:
        """Read a ``corpus.jsonl``.

        Raises:
            DataError: If it is missing, a line is bad, an import is unknown or imports are
                cyclic; names the line or the path.
        """
        if not Path(path).is_file():
            raise DataError("there is no such corpus; export the data first", path=path)
        return cls.build(read_corpus(path), source=path)

    @classmethod
    def build(cls, files: Iterable[PremiseFile], *, source: Path | str = "corpus") -> Corpus:
        """Build a corpus from files in any order; of several with the same path the first wins.

        Raises:
            DataError: As :meth:`read`, naming ``source``.
        """
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
            file_of=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
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

    def __getitem__(self, number: int) -> Premise:
        """Return one premise."""
        return self.premises[number]

    def file_number(self, path: str) -> int | None:
        """Return a file's number, ``None`` if the corpus lacks it."""
        return self._numbers.get(path)

    def path_of(self, number: int) -> str:
        """Return the file of a premise."""
        return self.paths[int(self.visibility.file_of[number])]

    @property
    def texts(self) -> Iterator[str]:
        """All premises as the encoder reads them, made while iterating."""
        return (premise_text(one.full_name, one.code) for one in self.premises)

    def locate(self, path: str, position: Position, full_name: str = "") -> int | None:
        """Find the premise of a file whose span holds a position.

        Spans may nest (a structure and its fields) or coincide: of several, the one called
        ``full_name`` wins, else the innermost.

        Returns:
            Its number; ``None`` if the file is unknown or no premise is there.
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
