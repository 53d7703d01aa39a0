"""One corpus out of several repositories, dependencies first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.database.export.source import ExportSource


def merged_corpus(sources: Sequence[ExportSource]) -> Iterator[bytes]:
    """Give the lines of ``corpus.jsonl``.

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


def dependencies_first(imports: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Order files so that each stands after those it imports, else as they came.

    Args:
        imports: For each path the paths it imports; others than the keys are passed over.

    Raises:
        DatabaseError: Naming the circle, if there is one.
    """
    done: set[str] = set()
    for root in imports:
        if root in done:
            continue
        # An explicit stack: import chains of a large library are deeper than Python's own.
        trail = [root]
        open_paths = {root: None}
        pending = [iter(imports[root])]
        while trail:
            step = next(
                (path for path in pending[-1] if path in imports and path not in done), None
            )
            if step is None:
                pending.pop()
                finished = trail.pop()
                del open_paths[finished]
                done.add(finished)
                yield finished
            elif step in open_paths:
                circle = [*trail[trail.index(step) :], step]
                raise DatabaseError(
                    f"files of the corpus import each other in a circle: {' → '.join(circle)}. "
                    "Lean allows no such imports: trace the repository again"
                )
            else:
                trail.append(step)
                open_paths[step] = None
                pending.append(iter(imports[step]))
