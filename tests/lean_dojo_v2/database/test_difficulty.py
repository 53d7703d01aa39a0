"""Difficulty, its thresholds, and the order of the curriculum."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.ratings import (
    difficulty,
    thresholds,
)
from lean_dojo_v2.database import DynamicDatabase, Repository


@pytest.mark.parametrize(
    ("tactics", "expected"),
    [
        ((), None),
        (("simp",), math.e),
        (("a", "b", "c"), math.exp(3)),
        (("a", "sorry"), math.inf),
        (("exact ⟨sorry, 1⟩",), math.inf),
        (("admit",), math.inf),
        (("exact sorry_lemma.sorry'",), math.e),
    ],
)
def test_difficulty(
    theorem: Callable[..., Theorem], tactics: tuple, expected: float | None
) -> None:
    assert difficulty(theorem("t", *tactics)) == expected


def test_thousands_of_tactics_stay_finite_and_are_the_hardest(
    theorem: Callable[..., Theorem],
) -> None:
    long = difficulty(theorem("t", *["skip"] * 5000))
    assert long is not None
    assert math.isfinite(long)
    assert long > math.exp(700)
    low, _ = thresholds({long: 2, math.e: 1})
    assert math.isfinite(low)


def test_thresholds_are_the_percentiles_over_finite_ones() -> None:
    values = [math.exp(n) for n in (1, 1, 2, 3, 3, 3, 4, 7, 9, 20)]
    counts: dict[float | None, int] = {value: values.count(value) for value in values}
    counts |= {None: 5, math.inf: 7}
    assert thresholds(counts) == pytest.approx(tuple(np.percentile(values, [33, 67])))


def test_repositories_come_easiest_first(
    database: DynamicDatabase, theorem: Callable[..., Theorem]
) -> None:
    def repository(name: str, *sizes: int) -> Repository:
        theorems = [theorem(f"t{i}", *["skip"] * size) for i, size in enumerate(sizes)]
        return Repository(f"https://x/y/{name}", "c", proven_theorems=theorems)

    for name, sizes in {
        "empty": (),
        "hard": (9, 9, 8, 8),
        "easy": (1, 1, 1),
        "some": (1, 2),
        "tie": (1, 3),
    }.items():
        database.add_repository(repository(name, *sizes))
    ordered = database.sort_repositories_by_difficulty()
    assert [repo.name for repo in ordered] == ["y/easy", "y/some", "y/tie", "y/hard", "y/empty"]
    assert all(isinstance(repo, Repository) for repo in ordered)
