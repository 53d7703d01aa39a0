"""Data of a run: repositories, theorems of each split, difficulty."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_v2.data.difficulty import category, difficulty, thresholds
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.runs.files import COPY, METADATA, read_json

SPLITS = ("train", "val", "test")
GRADES = ("Easy", "Medium", "Hard", "No proof")


@attrs.frozen
class RepositoryData:
    """A repository's part of a dataset.

    Attributes:
        name: ``owner/name``.
        engine: The tracing engine, with ``lean`` as its version of Lean.
        splits: Theorems in each split of the random strategy; empty without the
            split files.
        grades: Theorems of each difficulty, by LeanAgent's thresholds.
        tactics: Traced tactics.
    """

    name: str
    url: str
    commit: str
    lean: str
    engine: str
    splits: Mapping[str, int]
    grades: Mapping[str, int]
    tactics: int


@attrs.frozen
class Dataset:
    """A dataset.

    Attributes:
        name: Its folder, relative to the output folder.
        repositories: Its repositories, in the order of the export.
        totals: Counts from its metadata: theorems, premises, files.
    """

    name: str
    repositories: tuple[RepositoryData, ...]
    totals: Mapping[str, int]

    @property
    def counted(self) -> bool:
        """Whether its split files could be counted."""
        return any(repository.splits for repository in self.repositories)


def datasets(folder: Path) -> list[Dataset]:
    """Find the datasets in an output folder, and the trainers' copies of their metadata.

    Raises:
        DataError: If a file cannot be read.
    """
    exported = [one for one in sorted(folder.rglob(METADATA)) if (one.parent / "random").is_dir()]
    found = [_dataset(folder, file) for file in exported]
    shown = {_contents(dataset) for dataset in found}
    for file in sorted(folder.rglob(COPY)):
        data = read_json(file)
        if not isinstance(data, dict) or not isinstance(data.get("repositories"), list):
            continue  # another program's file of that name
        copied = _dataset(folder, file)
        if _contents(copied) not in shown:
            shown.add(_contents(copied))
            found.append(copied)
    return found


def _contents(dataset: Dataset) -> frozenset[tuple[str, str]]:
    return frozenset((repository.url, repository.commit) for repository in dataset.repositories)


def _dataset(root: Path, file: Path) -> Dataset:
    data = read_json(file)
    splits, ratings, tactics = _count(file.parent / "random")
    every: Counter[float | None] = sum(ratings.values(), Counter())
    try:
        limits = thresholds(every)
    except EmptyDatasetError:
        limits = (0.0, 0.0)
    return Dataset(
        name=str(file.parent.relative_to(root)) if file.parent != root else root.name,
        repositories=tuple(
            RepositoryData(
                name=str(item.get("name") or item.get("url", "")),
                url=str(item.get("url", "")),
                commit=str(item.get("commit", "")),
                lean=str(item.get("lean_version") or ""),
                engine=str((item.get("metadata") or {}).get("engine") or ""),
                splits=splits[key],
                grades=_grades(ratings[key], limits),
                tactics=tactics[key],
            )
            for item in data.get("repositories", [])
            for key in [(str(item.get("url", "")), str(item.get("commit", "")))]
        ),
        totals={k: v for k, v in data.items() if isinstance(v, int)},
    )


def _count(folder: Path) -> tuple[Any, Any, Any]:
    """Count theorems by split and by difficulty, and tactics, for each repository."""
    splits: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    ratings: defaultdict[tuple[str, str], Counter[float | None]] = defaultdict(Counter)
    tactics: Counter[tuple[str, str]] = Counter()
    for split in SPLITS:
        if not (file := folder / f"{split}.json").is_file():
            continue
        for theorem in read_theorems(file):
            key = (theorem.url, theorem.commit)
            splits[key][split] += 1
            ratings[key][difficulty(theorem)] += 1
            tactics[key] += len(theorem.traced_tactics)
    return splits, ratings, tactics


def _grades(ratings: Counter[float | None], limits: tuple[float, float]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for rating, count in ratings.items():
        found[category(rating, limits)] += count
    return {grade: found[grade] for grade in GRADES} if found else {}
