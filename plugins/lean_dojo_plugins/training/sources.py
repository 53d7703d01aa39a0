"""Where a training's data come from: the stages of its curriculum, and the data of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeGuard

import attrs
import orjson

from lean_dojo_core import Database, Repository
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.data import is_in_share, repository_name, split_file
from lean_dojo_v2.files import METADATA_FILE, atomic_write_bytes


@attrs.frozen
class Stage:
    """A stage of a curriculum, as a run remembers it.

    Attributes:
        url: What it adds to the data: a repository's address, the source of statements, a round.
        commit: Its version: a commit, or a digest of the data.
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
    """Repositories of a database, in curriculum order; each is a stage."""

    repositories: Sequence[Repository]
    database: Database

    @classmethod
    def of(cls, repos: object, database: object) -> DatabaseSource:
        """Check what ``train()`` was given.

        Raises:
            UsageError: If they are not repositories and a database, or there are none.
        """
        return cls(*checked_repositories(repos, database))

    @property
    def stages(self) -> list[Stage]:
        """The repositories."""
        return [Stage(str(one.url), str(one.commit)) for one in self.repositories]

    def export(self, stages: int, folder: Path) -> None:
        """Export the merged data of the first repositories."""
        self.database.export_merged_data(list(self.repositories[:stages]), folder)


@attrs.frozen
class HumanShare:
    """A source of a share (0 to 1) of another's training theorems; if hidden, of the others."""

    source: DataSource
    share: float
    hidden: bool = False

    @property
    def stages(self) -> Sequence[Stage]:
        """Those of the other source."""
        return self.source.stages

    def export(self, stages: int, folder: Path) -> None:
        """Export everything, then drop the other theorems from the training split."""
        from lean_dojo_v2.database import read_theorems, write_theorems

        self.source.export(stages, folder)
        file = split_file(folder)
        write_theorems(
            file,
            (t for t in read_theorems(file) if is_in_share(t, self.share) is not self.hidden),
        )
        metadata = folder / METADATA_FILE
        counts = orjson.loads(metadata.read_bytes())
        counts |= {"human_share": self.share, "hidden": self.hidden}
        atomic_write_bytes(metadata, orjson.dumps(counts, option=orjson.OPT_INDENT_2))


def checked_repositories(repos: object, database: object) -> tuple[list[Repository], Database]:
    """Check what ``train()`` was given; the repositories become a list.

    Raises:
        UsageError: If they are not repositories and a database, or there are none.
    """
    found = list(repos) if isinstance(repos, Iterable) else [None]
    repositories = [one for one in found if _is_repository(one)]
    if len(repositories) < len(found):
        raise UsageError(
            "train() takes a list of repositories, such as database.repositories, not "
            f"{repos!r:.80}"
        )
    if not repositories:
        raise UsageError("there are no repositories to train on")
    if not _is_database(database):
        raise UsageError(
            f"train() takes a database, such as DynamicDatabase('dynamic_database.json'), not "
            f"{database!r:.80}"
        )
    return repositories, database


def _is_repository(one: object) -> TypeGuard[Repository]:
    return hasattr(one, "url") and hasattr(one, "commit")


def _is_database(one: object) -> TypeGuard[Database]:
    return hasattr(one, "export_merged_data")
