"""The database of traced repositories, filled by agents and read by trainers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import attrs
import click

from lean_dojo_core import Repository as AnyRepository, Theorem, TracedTactic, UsageError
from lean_dojo_core.wording import counted
from lean_dojo_v2.data import (
    NotInDatabaseError,
    Repository,
    difficulty,
    easiest_first,
    is_meant,
    located,
    log_proof,
    missing,
    name_of_url,
    rated,
)
from lean_dojo_v2.database import json_file
from lean_dojo_v2.database.export.write import export_merged_data
from lean_dojo_v2.database.sqlite_storage import SqliteStorage
from lean_dojo_v2.files import atomic_writer

__all__ = ["DynamicDatabase", "NotInDatabaseError", "Repository", "difficulty", "is_sqlite_path"]

SQLITE_SUFFIXES = (".sqlite", ".sqlite3", ".db")


class DynamicDatabase:
    """Traced repositories in one file: JSON, or SQLite if the path ends in ``.sqlite`` or ``.db``.

    Opening a file loads it and never empties it; a missing one is created by the first change.
    Every change is written at once and atomically, and several processes may use one file without
    losing each other's changes. JSON is held in memory and rewritten at each change; SQLite reads
    and writes only what is needed, so use it for large databases.

    A repository object is a snapshot: change it, then call :meth:`update_repository`. With
    ``read_only`` no file is written or created.

    Raises:
        DatabaseError: If the file cannot be read as a database; it is left unchanged.
    """

    def __init__(
        self, json_path: str | Path = "dynamic_database.json", *, read_only: bool = False
    ) -> None:
        # Absolute: code of a plugin may change the current folder.
        self.json_path: Path | None = Path(json_path).absolute()
        self.storage: SqliteStorage | json_file.JsonStorage
        if is_sqlite_path(json_path):
            self.storage = SqliteStorage(self.json_path, read_only)
        else:
            self.storage = json_file.JsonStorage(self.json_path, read_only)

    def __repr__(self) -> str:
        held = counted(len(self.storage.repository_keys()), "repository", "repositories")
        return f"<database {str(self.json_path or 'in memory')!r}: {held}>"

    def _ipython_key_completions_(self) -> list[str]:
        return [
            f"{name_of_url(url)}@{commit[:12]}" for url, commit in self.storage.repository_keys()
        ]

    def __getitem__(self, name: str) -> Repository:
        """Return the one repository of ``owner/name``, ``owner/name@commit`` or an address.

        None or several are a ``NotInDatabaseError`` (a ValueError).
        """
        meant = [key for key in self.storage.repository_keys() if is_meant(*key, name)]
        if len(meant) != 1:
            there = ", ".join(self._ipython_key_completions_()) or "none"
            problem = "several repositories are" if meant else "no repository is"
            raise NotInDatabaseError(f"{problem} {name!r}; there are: {there}", path=self.json_path)
        found = self.storage.get(meant[0])
        assert found is not None
        return found

    __iter__: ClassVar[None] = None
    """No iteration and no ``in``: Python would index by number, but repositories have names."""

    @property
    def repositories(self) -> list[Repository]:
        """All repositories, in the order they were added."""
        return list(self.storage.repositories())

    def add_repository(self, repo: Repository) -> None:
        """Add a traced repository, unless it is already there (same url and commit)."""
        self.storage.add(repo)

    def get_repository(self, url: str, commit: str) -> Repository | None:
        """Return a repository; None if the database does not hold it."""
        return self.storage.get((url, commit))

    def update_repository(self, repo: Repository) -> None:
        """Store a changed repository. Proofs recorded since it was read are kept.

        One that is not in the database is a ``NotInDatabaseError`` (a ValueError).
        """
        self.storage.update(repo)

    def delete_repository(self, url: str, commit: str) -> None:
        """Remove a repository; a ``NotInDatabaseError`` (a ValueError) if there is none."""
        self.storage.delete((url, commit))

    def record_proof(
        self,
        theorem: Theorem,
        tactics: Iterable[TracedTactic | str] = (),
        *,
        log_file: str | Path | None = None,
    ) -> Theorem:
        """Record the proof of a ``sorry`` theorem, and return the theorem as stored.

        On SQLite this takes milliseconds.

        Args:
            theorem: The theorem, with the url and commit of its repository.
            tactics: The proof. A bare string is a tactic without goals. If none are given,
                ``theorem`` already has them.
            log_file: A line about it is appended to this file, if given.

        Raises:
            NotInDatabaseError: (a ValueError) if it is not an unproved ``sorry`` theorem here.
        """
        proof = tuple(
            TracedTactic(tactic, "", "") if isinstance(tactic, str) else tactic
            for tactic in tactics
        )
        proven = rated(attrs.evolve(theorem, traced_tactics=proof) if proof else theorem)
        key = (theorem.url, theorem.commit)
        self.storage.record_proof(key, proven)
        if log_file is not None:
            log_proof(log_file, proven)
        return proven

    def trace_repository(self, url: str, commit: str, build_deps: bool = False) -> Repository:
        """Trace a repository, an address or a local path, and add it unless it is in the database.

        With ``build_deps`` its dependencies are traced, too. One that cannot be fetched or traced
        is a ``TraceError``.
        """
        known = self.get_repository(url, commit)
        if known is not None:
            return known
        from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

        traced = trace_repository(LeanGitRepo(url, commit), build_deps=build_deps)
        self.add_repository(traced)
        return self.get_repository(traced.url, traced.commit) or traced

    def print_database_contents(self) -> None:
        """Print one line per repository."""
        click.echo(f"{self.json_path or 'in memory'}: {len(self.repositories)} repositories")
        for repo in self.repositories:
            click.echo(
                f"  {repo.name} at {repo.commit[:12]} ({repo.lean_version or 'Lean ?'}): "
                f"{repo.total_theorems} theorems, {repo.num_proven_theorems} proven, "
                f"{repo.num_sorry_theorems_proved} of {repo.num_sorry_theorems} sorry since "
                f"proven, {repo.num_premises} premises in {repo.num_premise_files} files"
            )

    def sort_repositories_by_difficulty(self) -> list[Repository]:
        """Return the repositories easiest first: by their number of Easy theorems.

        An ``EmptyDatasetError`` (a ValueError) if no theorem has a finished proof.
        """
        with self.storage.snapshot(), located(self.json_path):
            return easiest_first((repo, repo.difficulty_counts()) for repo in self.repositories)

    def export_merged_data(
        self, repositories: Sequence[AnyRepository], output_path: str | Path
    ) -> None:
        """Write data for trainers, as :func:`lean_dojo_v2.database.export_merged_data` does.

        The repositories are in curriculum order, and looked up here by url and commit. A
        :class:`Repository` that is not in the database is used directly; any other one is a
        ``NotInDatabaseError``.
        """
        with self.storage.snapshot():
            export_merged_data([self._resolve(repo) for repo in repositories], output_path)

    def _resolve(self, repo: AnyRepository) -> Repository:
        key = (repo.url, repo.commit)
        found = self.storage.get(key) or repo
        if not isinstance(found, Repository):
            raise missing(key, self.json_path)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the schema of ``dynamic_database.json``."""
        with self.storage.snapshot():
            return {"repositories": [repo.to_dict() for repo in self.storage.repositories()]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make a database in memory; :meth:`to_json` writes it to a file.

        A ``DatabaseError`` names the key path of what is wrong.
        """
        database = cls.__new__(cls)
        database.json_path = None
        database.storage = json_file.JsonStorage()
        with located(None):
            for repository in json_file.repositories_from_dict(data).values():
                database.storage.add(repository)
        return database

    def to_json(self, file_path: str | Path) -> None:
        """Write the database as a ``dynamic_database.json``, replacing the file in one step.

        Its own file holds every change already. A suffix that means SQLite is a ``UsageError``.
        """
        if is_sqlite_path(file_path):
            raise UsageError(f"{file_path}: to_json writes JSON; update_json writes either format")
        own = self.json_path
        if own is not None and Path(file_path).resolve() == own.resolve():
            self.storage.make_file()
            return
        with self.storage.snapshot(), atomic_writer(file_path) as stream:
            json_file.write_repositories(stream, self.storage.repositories())

    @classmethod
    def from_json(cls, file_path: str | Path) -> Self:
        """Open an existing database file.

        A missing one is a ``UsageError``, and one that is not a database a ``DatabaseError``.
        """
        if not Path(file_path).exists():
            raise UsageError(f"{file_path}: no such database")
        return cls(file_path)

    def update_json(self, file_path: str | Path) -> None:
        """Bring another database file up to date with this one, in the format of its suffix.

        Existing repositories are replaced (proofs recorded there stay) and others added; those
        that only the file has are unchanged.
        """
        if not is_sqlite_path(file_path) and not Path(file_path).exists():
            self.to_json(file_path)
            return
        with type(self)(file_path) as other, self.storage.snapshot():
            other.storage.make_file()
            for repository in self.storage.repositories():
                if not other.storage.add(repository):
                    other.storage.update(repository)

    def close(self) -> None:
        """Close the file; all changes are already stored."""
        self.storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a database as its path, or in memory as its content."""
        if self.json_path is None:
            return (type(self).from_dict, (self.to_dict(),))
        return (type(self), (self.json_path,))


def is_sqlite_path(path: str | Path) -> bool:
    """Whether a path's suffix means SQLite; any other means JSON."""
    return Path(path).suffix.lower() in SQLITE_SUFFIXES
