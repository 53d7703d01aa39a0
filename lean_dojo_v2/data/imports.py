"""Topological order of files by their imports."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path

from lean_dojo_v2.errors import DatabaseError


def dependencies_first(
    imports: Mapping[str, Sequence[str]], source: Path | str | None = None
) -> Iterator[str]:
    """Order files so that each comes after its imports, otherwise in the given order.

    Unknown imports are ignored. A cycle is a :class:`DatabaseError` before the first path.

    >>> list(dependencies_first({"B": ["A"], "C": [], "A": ["Init"]}))
    ['C', 'A', 'B']
    """
    rank = {path: index for index, path in enumerate(imports)}
    sorter = TopologicalSorter(
        {path: [name for name in names if name in rank] for path, names in imports.items()}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        raise DatabaseError(
            f"files of the corpus import each other in a cycle: {circle}. Lean does not allow "
            "this: trace the repository again",
            path=source,
        ) from None
    ready: list[tuple[int, str]] = []
    while sorter.is_active():
        for path in sorter.get_ready():
            heappush(ready, (rank[path], path))
        _, first = heappop(ready)
        sorter.done(first)
        yield first
