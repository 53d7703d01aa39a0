"""Files in an order in which each stands after those that it imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path

from lean_dojo_v2.errors import DatabaseError


def dependencies_first(
    imports: Mapping[str, Sequence[str]], source: Path | str | None = None
) -> Iterator[str]:
    """Order files so that each stands after those it imports, else as they came.

    Args:
        imports: For each path the paths it imports; others than the keys are passed over.
        source: The file that says so, for the error.

    Raises:
        DatabaseError: Naming the circle, if there is one; before the first path is given.

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
            f"files of the corpus import each other in a circle: {circle}. Lean does not allow "
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
