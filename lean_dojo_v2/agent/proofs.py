"""Proofs found: a log, and patches of the Lean files."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import attrs

from lean_dojo_core.records import Position, Theorem
from lean_dojo_v2.files import append_lines, read_named, read_records
from lean_dojo_v2.lean import PositionMap, SourceTheorem, lean_text


def _pair(value: Sequence[int]) -> Position:
    line, column = value
    return (line, column)


@attrs.frozen
class ProvedTheorem:
    """A theorem that was ``sorry``, with a verified proof (a tactic block)."""

    url: str
    commit: str
    file_path: str
    full_name: str
    start: Position = attrs.field(converter=_pair)
    end: Position = attrs.field(converter=_pair)
    statement: str | None
    proof: str

    @classmethod
    def of(cls, theorem: Theorem, proof: str) -> Self:
        """Combine a theorem with its proof."""
        return cls(
            theorem.url,
            theorem.commit,
            theorem.file_path,
            theorem.full_name,
            theorem.start,
            theorem.end,
            theorem.theorem_statement,
            proof,
        )


@attrs.frozen
class ProofLog:
    """An append-only JSONL file of proofs."""

    path: Path

    def append(self, proof: ProvedTheorem) -> None:
        """Add a proof and force it to disk."""
        append_lines(self.path, [attrs.asdict(proof)])

    def __iter__(self) -> Iterator[ProvedTheorem]:
        """Read the proofs; an incomplete line is skipped, any other line is a ``DataError``."""
        return read_records(self.path, ProvedTheorem, "a proof")


def make_patch(root: Path, proofs: Iterable[ProvedTheorem]) -> str:
    """Return proofs as a unified diff that ``git apply`` takes in their repository's folder.

    The last proof of a theorem counts. A file that is missing, or is not the one that was traced,
    is an error.
    """
    by_file: dict[str, dict[Position, ProvedTheorem]] = defaultdict(dict)
    for proof in proofs:
        by_file[proof.file_path][proof.start] = proof
    patches = []
    for path, found in sorted(by_file.items()):
        written = read_named(root / path)
        text, changes = lean_text(written), []
        for one in found.values():
            source = SourceTheorem(text, one.full_name, path, one.start, one.end, one.statement)
            changes.append((one.start, one.end, source.with_proof(one.proof)))
        patches.append(file_patch(written, changes, path))
    return "".join(patches)


def file_patch(written: bytes, changes: Iterable[tuple[Position, Position, str]], path: str) -> str:
    r"""Return a unified diff of one file, in which texts stand from one position to another.

    The ``path`` is relative to where the patch is applied. New texts get the file's line ends.

    >>> print(file_patch(b"ab\n", [((1, 2), (1, 3), "c")], "x"), end="")
    --- a/x
    +++ b/x
    @@ -1 +1 @@
    -ab
    +ac
    """
    old = written.decode()
    new = shown = old.removeprefix("\ufeff")  # a byte order mark has no position
    places, line_end = PositionMap(shown), "\r\n" if "\r\n" in old else "\n"
    # From the end of the file to its start, so that positions stay valid.
    for (line, column), (last, end), text in sorted(changes, reverse=True):
        put = text.replace("\r\n", "\n").replace("\n", line_end)
        new = new[: places.index(line, column - 1)] + put + new[places.index(last, end - 1) :]
    new = old[: len(old) - len(shown)] + new
    # Split where git does, and nowhere else (``str.splitlines`` knows ten line ends).
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (old, new))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    )
