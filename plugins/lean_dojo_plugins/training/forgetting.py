"""Forgetting over a curriculum: the loss on each repository so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from lean_dojo_core import DatasetFormatter, Repository
from lean_dojo_plugins.training.data import repository_name, split_file
from lean_dojo_plugins.training.learner import CurriculumStep
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.runs.forgetting import Forgetting

METRIC = "loss (nats per token)"
SPLITS = ("val", "test")

_Repository: TypeAlias = tuple[str, str]


def look_back(
    folder: Path,
    step: CurriculumStep,
    data_path: Path,
    formatter: DatasetFormatter,
    measure: Callable[[Sequence[dict[str, Any]]], float | None],
    *,
    limit: int,
) -> None:
    """Measure the model on held-out tactics of every repository so far, after a step.

    Adds a row to ``forgetting.json`` in the trainer's output folder and redraws the heat map. The
    training's random state is unchanged.

    Args:
        folder: The output folder.
        step: The step.
        data_path: The data that were exported for it.
        formatter: Makes the rows to measure on.
        measure: Returns the loss on rows.
        limit: Rows of each repository at most.
    """
    wanted = {(str(r.url), str(r.commit)): _named(r) for r in step.repositories}
    rows = held_out_rows(data_path, formatter, list(wanted), limit=limit)
    values = {name: measure(rows[repository]) for repository, name in wanted.items()}
    matrix = read_matrix(folder)
    matrix.add(_named(step.repository), step.folder.name, values)
    matrix.write(folder)


def read_matrix(folder: Path) -> Forgetting:
    """Return the measurements after earlier steps of a run.

    Raises:
        DataError: If the file cannot be read.
    """
    return Forgetting(METRIC, higher_is_better=False).resumed(folder)


def _named(repository: Repository) -> str:
    return f"{repository_name(repository)}@{str(repository.commit)[:7]}"


def held_out_rows(
    data_path: Path, formatter: DatasetFormatter, repositories: list[_Repository], *, limit: int
) -> dict[_Repository, list[dict[str, Any]]]:
    """Collect the first held-out rows of each repository, as a stream over the split files."""
    rows: dict[_Repository, list[dict[str, Any]]] = {key: [] for key in repositories}
    for split in SPLITS:
        for theorem in read_theorems(split_file(data_path, split)):
            mine = rows.get((theorem.url, theorem.commit))
            if mine is not None and len(mine) < limit:
                mine.extend(formatter.rows(theorem))
                del mine[limit:]
                if all(len(found) == limit for found in rows.values()):
                    return rows
    return rows
