"""The data of a training: the stages of its curriculum, what each exports, and rows made of it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, cast

import attrs
import orjson

from lean_dojo_core import Database, DatasetFormatter, Repository, Theorem, registry
from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.data import name_of_url
from lean_dojo_v2.database import name_across_commits, read_theorems, unit_hash, write_theorems
from lean_dojo_v2.files import METADATA_FILE, atomic_write_bytes, safe_name

PLACE_COLUMNS = ("url", "commit", "file_path", "full_name", "start", "end")
"""Columns that locate a theorem."""
SPLITS = ("train", "val", "test")
"""The splits of a dataset."""
CHUNK_SIZE = 1000
"""Rows tokenised and written at once."""
Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split a stream into lists of at most ``size`` items."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def split_file(data_path: Path | str, split: str = "train") -> Path:
    """Find the file of a split (of the ``random`` strategy) in a folder of merged data.

    ``data_path`` may be the file itself. UsageError if there is no such split, DataError if the
    file does not exist.
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

        UnknownNameError if there is no such formatter, DataError if the file is bad.
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
class Stage:
    """A stage of a curriculum, as a run remembers it.

    ``url`` is what it adds to the data: a repository's address, the source of statements, a round.
    ``commit`` is its version: a commit, or a digest of the data.
    """

    url: str
    commit: str

    @property
    def name(self) -> str:
        """Its name, safe for file names; of a repository ``owner_name``."""
        return repository_name(self)


class DataSource(Protocol):
    """The stages of a curriculum and their data, as the training loop asks for them."""

    @property
    def stages(self) -> Sequence[Stage]:
        """All stages, in their order."""

    def export(self, stages: int, folder: Path) -> None:
        """Write the data of the first ``stages`` stages to a folder; the main process calls it."""


@attrs.frozen
class DatabaseSource:
    """Repositories of a database, in curriculum order; each is a stage.

    ``share`` (0 to 1) of their training theorems are exported, or with ``hidden`` the others.
    """

    repositories: Sequence[Repository]
    database: Database
    share: float | None = None
    hidden: bool = False

    @property
    def stages(self) -> list[Stage]:
        """The repositories."""
        return [Stage(str(one.url), str(one.commit)) for one in self.repositories]

    def export(self, stages: int, folder: Path) -> None:
        """Export the merged data of the first repositories, and drop what is not in the share."""
        self.database.export_merged_data(list(self.repositories[:stages]), folder)
        if (share := self.share) is None:
            return
        file = split_file(folder)
        kept = (t for t in read_theorems(file) if is_in_share(t, share) is not self.hidden)
        write_theorems(file, kept)
        metadata = folder / METADATA_FILE
        counts = orjson.loads(metadata.read_bytes())
        counts |= {"human_share": share, "hidden": self.hidden}
        atomic_write_bytes(metadata, orjson.dumps(counts, option=orjson.OPT_INDENT_2))


def checked_repositories(repos: object, database: object) -> tuple[list[Repository], Database]:
    """Check that ``train()`` was given repositories and a database, or raise a UsageError."""
    found = list(repos) if isinstance(repos, Iterable) else [None]
    repositories = [
        cast("Repository", one) for one in found if hasattr(one, "url") and hasattr(one, "commit")
    ]
    if len(repositories) < len(found):
        raise UsageError(
            "train() takes a list of repositories, such as database.repositories, not "
            f"{repos!r:.80}"
        )
    if not repositories:
        raise UsageError("there are no repositories to train on")
    if not hasattr(database, "export_merged_data"):
        raise UsageError(
            f"train() takes a database, such as DynamicDatabase('dynamic_database.json'), not "
            f"{database!r:.80}"
        )
    return repositories, cast("Database", database)
