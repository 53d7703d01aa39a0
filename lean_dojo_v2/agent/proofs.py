"""Proofs found: a log, and patches of the Lean files."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from lean_dojo_core.records import Position, Theorem
from lean_dojo_v2.files import append_lines, read_named, read_records
from lean_dojo_v2.lean import SourceTheorem


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
    def of(cls, theorem: Theorem, proof: str) -> ProvedTheorem:
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
        """Read the proofs; an incomplete line is skipped.

        Raises:
            DataError: For a line that is JSON but not a proof.
        """
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
        text = read_named(root / path).decode()
        patches.append(file_patch(text, _patched(text, path, found), path))
    return "".join(patches)


def _patched(text: str, file_path: str, proofs: Mapping[Position, ProvedTheorem]) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    shown = text.removeprefix("\ufeff")  # a byte order mark has no position
    mark, text = text[: len(text) - len(shown)], shown
    # From the end of the file to its start, so that positions stay valid.
    for _, proof in sorted(proofs.items(), reverse=True):
        source = SourceTheorem(
            text, proof.full_name, file_path, proof.start, proof.end, proof.statement
        )
        declaration = source.with_proof(proof.proof).replace("\r\n", "\n")
        text = source.before + declaration.replace("\n", line_end) + source.after
    return mark + text


def file_patch(old: str, new: str, path: str) -> str:
    r"""Return a unified diff of one file; ``path`` is relative to where the patch is applied.

    >>> print(file_patch("a\n", "b\n", "x"), end="")
    --- a/x
    +++ b/x
    @@ -1 +1 @@
    -a
    +b
    """
    # Split where git does, and nowhere else (``str.splitlines`` knows ten line ends).
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (old, new))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    )
