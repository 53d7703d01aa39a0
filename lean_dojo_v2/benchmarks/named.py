"""Sets of theorems by user-given names: a file, a data set of the hub, a benchmark."""

from __future__ import annotations

from pathlib import Path

JSONL, HUB = "jsonl", "hub"
"""Names of the benchmarks that read files, and data sets."""


def benchmark_named(source: str) -> tuple[str, dict[str, str]]:
    """Return the registered benchmark of a set, and the settings implied by the name.

    >>> benchmark_named("sets/few.jsonl")
    ('jsonl', {'file': 'sets/few.jsonl'})
    >>> benchmark_named("hub:AI-MO/NuminaMath-LEAN")
    ('hub', {'dataset': 'AI-MO/NuminaMath-LEAN'})
    >>> benchmark_named("sample")
    ('sample', {})
    """
    if Path(source).suffix == ".jsonl":
        return JSONL, {"file": source}
    if source.startswith(f"{HUB}:"):
        return HUB, {"dataset": source.removeprefix(f"{HUB}:")}
    return source, {}
