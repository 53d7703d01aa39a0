"""Formatter rows from exported theorems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from lean_dojo_core import DatasetFormatter, Repository, Theorem, registry
from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.files import safe_name

PLACE_COLUMNS = ("url", "commit", "file_path", "full_name", "start", "end")
"""Columns that locate a theorem."""
SPLITS = ("train", "val", "test")
"""The splits of a dataset."""


def split_file(data_path: Path | str, split: str = "train") -> Path:
    """Find the file of a split (of the ``random`` split strategy).

    Args:
        data_path: Folder of merged data, or the split's file itself.
        split: ``"train"``, ``"val"`` or ``"test"``; ignored for a file.

    Raises:
        UsageError: If there is no such split.
        DataError: If the file does not exist.
    """
    if split not in SPLITS:
        raise UsageError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    path = Path(data_path)
    if path.is_dir():
        places = (path / "random" / f"{split}.json", path / f"{split}.json")
        path = next((place for place in places if place.exists()), places[0])
    if not path.is_file():
        raise DataError("there is no such file; export the database to it first", path=path)
    return path


def formatted_rows(file: Path, formatter: DatasetFormatter) -> Iterator[dict[str, Any]]:
    """Stream the rows that a formatter makes from a split's theorems, in the file's order."""
    from lean_dojo_v2.database import read_theorems

    for theorem in read_theorems(file):
        yield from formatter.rows(theorem)


def place_of(theorem: Theorem) -> dict[str, Any]:
    """Return the columns :data:`PLACE` of a theorem's rows."""
    found = {name: getattr(theorem, name) for name in PLACE_COLUMNS}
    return found | {"start": list(theorem.start), "end": list(theorem.end)}


class SplitDataset:
    """Rows from a split file written by ``export_merged_data``."""

    default_formatter: ClassVar[str]

    def __init__(self, data_path: Path | str, formatter: str | None = None) -> None:
        self.data_path = split_file(data_path)
        self.formatter = formatter or self.default_formatter

    def rows(self) -> Iterator[dict[str, Any]]:
        """Stream the rows, in the file's order.

        Raises:
            UnknownNameError: If there is no such formatter.
            DataError: If the file is bad.
        """
        made = registry.dataset_formatters[self.formatter].create()
        yield from formatted_rows(self.data_path, made)


def repository_name(repository: Repository) -> str:
    """Return a repository's name for file names: ``owner_name``."""
    from lean_dojo_v2.data import name_of_url

    return safe_name(name_of_url(str(repository.url)))


def is_in_share(theorem: Theorem, share: float) -> bool:
    """Whether a theorem is in the share whose human proofs are learned.

    The choice depends on the theorem's names alone, so a larger share includes a smaller one.
    """
    from lean_dojo_v2.database import name_across_commits, unit_hash

    return unit_hash(f"human\n{name_across_commits(theorem)}") < share
