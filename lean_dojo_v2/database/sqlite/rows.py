"""Theorems and corpus files as rows of the schema, which contain the exported lines."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from lean_dojo_core.records import NO_GOALS, PremiseFile, Theorem
from lean_dojo_v2.data.codec import dumps, exported_theorem, tactic_to_dict, theorem_from_dict
from lean_dojo_v2.data.difficulty import difficulty
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.database.export.source import corpus_line, export_entry


class TheoremRow(NamedTuple):
    """A theorem ready to be stored.

    Attributes:
        header: The columns full_name … digest of the table ``theorem``.
        identity: Digest of the theorem's identity.
        line: Its line in an exported split.
        extra: JSON of data missing in that line (tactics without goals, positions of tactics), or
            None.
        digest: Of ``line`` and ``extra``: rows with equal digests are not rewritten.
    """

    header: tuple[Any, ...]
    identity: bytes
    line: bytes
    extra: bytes | None
    digest: bytes


def theorem_row(theorem: Theorem) -> TheoremRow:
    """Encode a theorem."""
    exported = exported_theorem(theorem)
    line, extra = dumps(exported), _extra(theorem)
    digest = blake2b(line + (extra or b""), digest_size=16).digest()
    entry = export_entry(exported)
    header = (theorem.full_name, theorem.file_path, difficulty(theorem), *entry, digest)
    return TheoremRow(header, entry.identity, line, extra, digest)


def premise_row(file: PremiseFile) -> tuple[str, int, bytes, bytes]:
    """Encode a corpus file as the columns path, num_premises, imports, line."""
    return (file.path, len(file.premises), dumps(file.imports), corpus_line(file))


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
    """Decode a theorem; a ``MalformedError`` says that the row is damaged."""
    try:
        data = orjson.loads(line)
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
