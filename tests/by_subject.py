"""Where the time of a run of the tests went: seconds and tests of each folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

DEPTH = 3
"""Parts of a path that make a subject: ``tests/plugins/sft``."""


def lines(durations: Iterable[tuple[str, str, float]]) -> Iterator[str]:
    """Yield a Markdown table; a row for each subject, the longest first.

    Args:
        durations: Node ids of tests, what was done of each (setup, call, teardown), and seconds.

    >>> print(*lines([("tests/a/b/test_x.py::one", "call", 2.0), ("tests/a/b/test_x.py::one",
    ...     "setup", 1.5), ("core/records.py::core.records", "call", 0.25)]), sep="\\n")
    | subject | tests | seconds | of it fixtures |
    |---|--:|--:|--:|
    | tests/a/b | 1 | 4 | 2 |
    | core/records.py | 1 | 0 | 0 |
    """
    tests: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    fixtures: dict[str, float] = defaultdict(float)
    for node, part, duration in durations:
        subject = "/".join(node.partition("::")[0].split("/")[:DEPTH])
        tests[subject].add(node)
        seconds[subject] += duration
        fixtures[subject] += 0.0 if part == "call" else duration
    yield "| subject | tests | seconds | of it fixtures |"
    yield "|---|--:|--:|--:|"
    for name in sorted(seconds, key=lambda one: -seconds[one]):
        row = name, len(tests[name]), f"{seconds[name]:.0f}", f"{fixtures[name]:.0f}"
        yield f"| {' | '.join(map(str, row))} |"
