"""Formatter rows from exported theorems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import orjson

from lean_dojo_core import Database, DatasetFormatter, Repository, Theorem, registry
from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.data.repository import name_of_url
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.database.export.splits import name_across_commits, unit_hash
from lean_dojo_v2.database.export.write import write_theorems
from lean_dojo_v2.paths import safe_name
from lean_dojo_v2.runs.files import METADATA

PLACE = ("url", "commit", "file_path", "full_name", "start", "end")
"""Columns that locate a theorem."""
SPLITS = ("train", "val", "test")


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
    for theorem in read_theorems(file):
        yield from formatter.rows(theorem)


def place_of(theorem: Theorem) -> dict[str, Any]:
    """Return the columns :data:`PLACE` of a theorem's rows."""
    found = {name: getattr(theorem, name) for name in PLACE}
    return found | {"start": list(theorem.start), "end": list(theorem.end)}


def checked_repositories(repos: Any, database: Any) -> list[Repository]:
    """Validate what ``train()`` was given, and return the repositories as a list."""
    found: list[Any] = list(repos) if isinstance(repos, Iterable) else [None]
    if not all(hasattr(one, "url") and hasattr(one, "commit") for one in found):
        raise UsageError(
            "train() takes a list of repositories, such as database.repositories, not "
            f"{repos!r:.80}"
        )
    if not found:
        raise UsageError("there are no repositories to train on")
    if not hasattr(database, "export_merged_data"):
        raise UsageError(
            f"train() takes a database, such as DynamicDatabase('dynamic_database.json'), not "
            f"{database!r:.80}"
        )
    return found


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
    return safe_name(name_of_url(str(repository.url)))


def is_in_share(theorem: Theorem, share: float) -> bool:
    """Whether a theorem is in the share whose human proofs are learned.

    The choice depends on the theorem's names alone, so a larger share includes a smaller one.
    """
    return unit_hash(f"human\n{name_across_commits(theorem)}") < share


@attrs.frozen
class HumanShare:
    """A database that exports a share (0 to 1) of its training theorems; if hidden, the others."""

    database: Database
    share: float
    hidden: bool = False

    def export_merged_data(self, repositories: Sequence[Repository], output_path: Path) -> None:
        """Export everything, then drop the other theorems from the training split."""
        self.database.export_merged_data(repositories, output_path)
        file = split_file(output_path)
        write_theorems(
            file,
            (t for t in read_theorems(file) if is_in_share(t, self.share) is not self.hidden),
        )
        metadata = output_path / METADATA
        counts = orjson.loads(metadata.read_bytes())
        counts |= {"human_share": self.share, "hidden": self.hidden}
        atomic_write_bytes(metadata, orjson.dumps(counts, option=orjson.OPT_INDENT_2))
