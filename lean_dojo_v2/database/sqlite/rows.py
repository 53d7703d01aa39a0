"""Theorems and corpus files as rows of the schema, in one of two forms.

On disk a row holds what an export writes. What was read from ``dynamic_database.json``, and goes
back there, stays in memory as it stands in that file: see :mod:`lean_dojo_v2.database.json.rows`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Protocol

import orjson

from lean_dojo_core.records import NO_GOALS, PremiseFile, Theorem
from lean_dojo_v2.data.codec import (
    Json,
    dumps,
    exported_theorem,
    load_theorem_dict,
    tactic_to_dict,
    theorem_from_dict,
)
from lean_dojo_v2.data.difficulty import difficulty
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.database.export.source import corpus_line, export_entry

NO_DIGEST = b""


class TheoremRow(NamedTuple):
    """A theorem ready to be stored.

    Attributes:
        header: The columns full_name … digest of the table ``theorem``.
        identity: Digest of what makes two records the same theorem.
        line: Its line in an exported split, or in ``dynamic_database.json``.
        extra: JSON of what that line leaves out (tactics without goals, where tactics stand in
            their file), or None if that is nothing.
        digest: Of ``line`` and ``extra``: equal digests need no writing. In memory none is taken,
            since writing costs less there.
    """

    header: tuple[Any, ...]
    identity: bytes
    line: bytes
    extra: bytes | None
    digest: bytes


class RowForm(Protocol):
    """How records are written into rows.

    Attributes:
        is_json: Whether a line is one of ``dynamic_database.json``.
    """

    is_json: ClassVar[bool]

    def theorem(self, theorem: Theorem) -> TheoremRow:
        """Encode a theorem."""

    def premise_file(self, file: PremiseFile) -> tuple[str, int, bytes, bytes]:
        """Encode a corpus file as the columns path, num_premises, imports, line."""

    def split_line(self, line: bytes) -> bytes:
        """Return a theorem's line as an exported split has it."""

    def corpus_line(self, line: bytes) -> bytes:
        """Return a corpus file's line as an exported corpus has it."""


class ExportForm:
    """Lines as an export writes them: it copies them."""

    is_json: ClassVar[bool] = False

    def theorem(self, theorem: Theorem) -> TheoremRow:
        """See :meth:`RowForm.theorem`."""
        exported = exported_theorem(theorem)
        line, extra = dumps(exported), _extra(theorem)
        digest = blake2b(line + (extra or b""), digest_size=16).digest()
        return row_of(exported, difficulty(theorem), line, extra, digest)

    def premise_file(self, file: PremiseFile) -> tuple[str, int, bytes, bytes]:
        """See :meth:`RowForm.premise_file`."""
        return (file.path, len(file.premises), dumps(file.imports), corpus_line(file))

    def split_line(self, line: bytes) -> bytes:
        """See :meth:`RowForm.split_line`."""
        return line

    def corpus_line(self, line: bytes) -> bytes:
        """See :meth:`RowForm.corpus_line`."""
        return line


def row_of(
    data: Json,
    rating: float | None,
    line: bytes,
    extra: bytes | None = None,
    digest: bytes = NO_DIGEST,
) -> TheoremRow:
    """Make a row of a line; ``data`` is the theorem as a split file or a database has it."""
    entry = export_entry(data)
    header = (data["full_name"], data["file_path"], rating, *entry, digest)
    return TheoremRow(header, entry.identity, line, extra, digest)


def _extra(theorem: Theorem) -> bytes | None:
    tactics = theorem.traced_tactics
    hidden = [
        (index, tactic_to_dict(tactic, position=list))
        for index, tactic in enumerate(tactics)
        if tactic.state_before == NO_GOALS
    ]
    spans = [(tactic.start, tactic.end, tactic.digest) for tactic in tactics]
    if not hidden and all(span == (None, None, None) for span in spans):
        return None
    return dumps({"hidden": hidden, "spans": spans})


def theorem_of_row(line: bytes, extra: bytes | None, rating: float | None) -> Theorem:
    """Decode a theorem of either form; a ``MalformedError`` says that the row is damaged."""
    try:
        data = load_theorem_dict(line)
        if extra is not None:
            more = orjson.loads(extra)
            tactics = data["traced_tactics"]
            for index, tactic in more["hidden"]:
                tactics.insert(index, tactic)
            for tactic, (start, end, *digest) in zip(tactics, more["spans"], strict=True):
                tactic["start"], tactic["end"] = start, end
                tactic["digest"] = digest[0] if digest else None
        data["difficulty_rating"] = rating
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise MalformedError(f"a damaged record: {error}") from error
    return theorem_from_dict(data)
