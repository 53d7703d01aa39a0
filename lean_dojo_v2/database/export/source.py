"""The input of an export from one repository."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import attrs

from lean_dojo_core.records import NO_GOALS, PremiseFile, Theorem
from lean_dojo_v2.data.codec import Json, dumps, exported_theorem, premise_file_to_dict
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.export.splits import (
    SPLITS,
    novel_premises_split,
    random_split,
    split_name,
)


class ExportEntry(NamedTuple):
    """Decides whether and where one record of a theorem is exported.

    Attributes:
        identity: Digest of (url, file_path, full_name, start, end): equal for
            records of the same theorem.
        name: Digest of (url, file_path, full_name): determines the splits.
        random: Index into ``SPLITS``.
        novel_premises: Index into ``SPLITS``.
    """

    identity: bytes
    name: bytes
    random: int
    novel_premises: int


@attrs.frozen
class ExportSource:
    """The parts of a repository that an export needs, each as a stream.

    Attributes:
        repository: The repository, whose records are encoded lazily.
    """

    repository: Repository

    def entries(self) -> Iterator[ExportEntry]:
        """Return one entry per theorem, in stored order."""
        return map(export_entry, map(exported_theorem, self.repository.iter_theorems()))

    def lines(self) -> Iterator[bytes]:
        """Return one JSON object per theorem, in the same order."""
        return map(export_line, self.repository.iter_theorems())

    def imports(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Return each corpus file's path with the paths that it imports."""
        return ((file.path, file.imports) for file in self.repository.premise_files)

    def corpus_line(self, path: str) -> bytes:
        """Return the JSON object of the first corpus file with this path."""
        return corpus_line(self._files[path])

    @cached_property
    def _files(self) -> dict[str, PremiseFile]:
        return {file.path: file for file in reversed(self.repository.premise_files)}


def export_entry(data: Json) -> ExportEntry:
    """Compute the entry of a theorem, in the form of a split file or of a database."""
    url, path, full_name = data["url"], data["file_path"], data["full_name"]
    name = f"{url}\n{path}\n{full_name}"
    splits_by = split_name(url, path, full_name)
    premises = (
        premise["full_name"]
        for tactic in data["traced_tactics"]
        if tactic["state_before"] != NO_GOALS
        for premise in tactic["annotated_tactic"][1]
    )
    return ExportEntry(
        _digest(f"{name}\n{data['start']}\n{data['end']}"),
        _digest(name),
        SPLITS.index(random_split(splits_by)),
        SPLITS.index(novel_premises_split(splits_by, premises)),
    )


def export_line(theorem: Theorem) -> bytes:
    """Write a theorem as one line of a split file."""
    return dumps(exported_theorem(theorem))


def corpus_line(file: PremiseFile) -> bytes:
    """Write a file of the corpus as one line of ``corpus.jsonl``."""
    return dumps(premise_file_to_dict(file))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
