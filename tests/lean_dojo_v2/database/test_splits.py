"""Splits: the stated rule, the right proportions, and nothing ever moves."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.records import Theorem
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.database.export.splits import novel_premises_split_of, split_of

Where = dict[str, dict[tuple[str, str, str], str]]


def exported_places(folder: Path) -> Where:
    """For each strategy, the split of each theorem by name; a theorem in two splits fails."""
    places: Where = {}
    for strategy in ("random", "novel_premises"):
        found = places.setdefault(strategy, {})
        for split in ("train", "val", "test"):
            for theorem in read_theorems(folder / strategy / f"{split}.json"):
                name = (theorem.url, theorem.file_path, theorem.full_name)
                assert found.setdefault(name, split) == split
    return places


def test_the_documented_rule(theorem: Callable[..., Theorem]) -> None:
    for number in range(200):
        one = theorem(f"N.t{number}", path="A/B.lean", url="/local/é")
        digest = hashlib.sha256(f"/local/é\nA/B.lean\nN.t{number}".encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        assert split_of(one) == ("train" if place < 0.6 else "val" if place < 0.8 else "test")


def test_only_the_names_count(theorem: Callable[..., Theorem]) -> None:
    for number in range(50):
        one = theorem(f"t{number}", "simp")
        other = attrs.evolve(one, commit="other", start=(99, 1), traced_tactics=())
        assert split_of(one) == split_of(other)


def test_proportions(theorem: Callable[..., Theorem]) -> None:
    rng = random.Random(5)
    theorems = [
        theorem(
            f"t{i}",
            "simp",
            premises=tuple(f"p{rng.randrange(999)}" for _ in range(rng.randrange(6))),
        )
        for i in range(4000)
    ]
    for rule, tolerance in ((split_of, 0.03), (novel_premises_split_of, 0.08)):
        counts = Counter(map(rule, theorems))
        assert counts["train"] / 4000 == pytest.approx(0.6, abs=tolerance)
        assert counts["val"] / 4000 == pytest.approx(0.2, abs=tolerance)


@pytest.mark.parametrize("seed", range(8))
def test_adding_repositories_moves_nothing(
    repository: Callable[..., Repository], path: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    numbers = rng.sample(range(30), 6)
    before: Where = {}
    with DynamicDatabase(path) as database:
        for step, number in enumerate(numbers):
            database.add_repository(repository(number, rng.randrange(1, 60), seed=seed))
            database.export_merged_data(database.repositories, tmp_path / str(step))
            after = exported_places(tmp_path / str(step))
            for strategy, places in before.items():
                assert places.items() <= after[strategy].items()
            before = after


@pytest.mark.parametrize("seed", range(4))
def test_held_out_theorems_use_a_premise_that_train_does_not(
    repository: Callable[..., Repository], tmp_path: Path, seed: int
) -> None:
    repositories = [repository(number, 80, seed=seed) for number in range(3)]
    with DynamicDatabase(tmp_path / "db.json") as database:
        database.export_merged_data(repositories, tmp_path)

    def premises(theorem: Theorem) -> set[str]:
        return {p.full_name for tactic in theorem.traced_tactics for p in tactic.premises}

    folder = tmp_path / "novel_premises"
    trained = set().union(*map(premises, read_theorems(folder / "train.json")))
    held_out = [t for name in ("val", "test") for t in read_theorems(folder / f"{name}.json")]
    assert held_out
    assert all(premises(theorem) - trained for theorem in held_out)


def with_premise(theorem: Callable[..., Theorem], held_out: bool, commit: str) -> Theorem:
    """The same theorem with a proof that makes it held out, or not."""
    for number in range(1000):
        one = theorem("same", "simp", premises=(f"p{number}",), commit=commit)
        if (novel_premises_split_of(one) != "train") == held_out:
            return one
    raise AssertionError


@pytest.mark.parametrize("newest_held_out", [True, False])
def test_a_proof_that_changed_between_commits_moves_nothing(
    theorem: Callable[..., Theorem], path: Path, tmp_path: Path, newest_held_out: bool
) -> None:
    """Held out by one commit's proof and not by the other's: it leaves the strategy."""
    url = "https://github.com/somebody/library"
    first, second = (
        Repository(
            url,
            commit,
            metadata={"date_processed": date},
            proven_theorems=[with_premise(theorem, held_out, commit)],
        )
        for commit, date, held_out in (
            ("old", "2026-01-01", not newest_held_out),
            ("new", "2026-02-01", newest_held_out),
        )
    )
    with DynamicDatabase(path) as database:
        database.add_repository(first)
        database.export_merged_data([first], tmp_path / "1")
        database.add_repository(second)
        database.export_merged_data([first, second], tmp_path / "2")
    before, after = exported_places(tmp_path / "1"), exported_places(tmp_path / "2")
    assert before["random"] == after["random"]
    assert len(before["novel_premises"]) == 1
    assert after["novel_premises"] == {}
