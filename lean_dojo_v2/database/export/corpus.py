"""One corpus out of several repositories, dependencies first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lean_dojo_v2.data.imports import dependencies_first
from lean_dojo_v2.database.export.source import ExportSource


def merged_corpus(sources: Sequence[ExportSource]) -> Iterator[bytes]:
    """Yield the lines of ``corpus.jsonl``.

    Each path once, taken from the first repository that has it; every file after the files
    that it imports, otherwise in stored order. Imports that no repository holds stay named.

    Raises:
        DatabaseError: If files import each other in a circle.
    """
    imports: dict[str, tuple[str, ...]] = {}
    owner: dict[str, int] = {}
    for index, source in enumerate(sources):
        for path, imported in source.imports():
            if path not in owner:
                owner[path] = index
                imports[path] = imported
    readers = [source.corpus_line() for source in sources]
    for path in dependencies_first(imports):
        yield readers[owner[path]](path)
