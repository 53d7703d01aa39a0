"""A repository stored in rows and read lazily."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import attrs
import orjson

from lean_dojo_core.records import PremiseFile, Theorem
from lean_dojo_v2.data.codec import dumps, premise_file_from_dict
from lean_dojo_v2.data.errors import located, missing
from lean_dojo_v2.data.repository import (
    COLLECTIONS,
    HEADER,
    THEOREM_LISTS,
    Repository,
    RepositoryKey,
    TheoremList,
    metadata_to_json,
)
from lean_dojo_v2.database.export.source import ExportEntry, ExportSource
from lean_dojo_v2.database.sqlite.file import Row, SqliteFile
from lean_dojo_v2.database.sqlite.rows import theorem_of_row
from lean_dojo_v2.errors import DatabaseError

COLUMNS = "url, name, revision, lean_version, lean_dojo_version, metadata, pr_url"
"""Columns of a repository's row: ``HEADER``, and two more."""
SORRY_LISTS: tuple[TheoremList, ...] = ("sorry_theorems_proved", "sorry_theorems_unproved")

CHUNK = 256
"""Rows read at a time: short queries do not delay the log's clean-up."""

_KEYS = "SELECT url, revision FROM repository ORDER BY id"
_HEADER = f"SELECT {COLUMNS} FROM repository WHERE url = ? AND revision = ?"  # noqa: S608
_ENTRIES = """
SELECT position, identity, name, random, novel_premises FROM theorem
WHERE repository = ? AND list = ? AND position > ? ORDER BY position LIMIT ?
"""
_THEOREMS = """
SELECT position, {columns} FROM theorem JOIN theorem_record USING (id)
WHERE repository = ? AND list = ? AND position > ? ORDER BY position LIMIT ?
"""
_PREMISE_FILES = """
SELECT position, {columns} FROM premise_file
WHERE repository = ? AND position > ? ORDER BY position LIMIT ?
"""
_TRACED_FILES = """
SELECT position, path FROM traced_file
WHERE repository = ? AND position > ? ORDER BY position LIMIT ?
"""


class StoredRepository(Repository):
    """A repository whose five collections are read from its rows when first touched.

    Counts, :meth:`iter_theorems`, :meth:`get_theorem` and exports never load a collection
    whole. A collection that was touched is a list like any other; after changing it, call
    :meth:`DynamicDatabase.update_repository`. Reading a damaged record raises a
    ``DatabaseError``.

    Args:
        file: The database file.
        header: The fields of :class:`Repository` except the collections.
        on_touch: Called with the repository when a collection is first touched.

    Attributes:
        file: The database file.
        key_as_read: Its key in the file, whatever ``url`` and ``commit`` are set to.
    """

    def __init__(
        self,
        file: SqliteFile,
        header: Mapping[str, Any],
        on_touch: Callable[[StoredRepository], object],
    ) -> None:
        super().__init__(**header)
        for name in COLLECTIONS:
            del self.__dict__[name]  # so that __getattr__ is called
        self._on_touch = on_touch
        self._as_read: dict[str, tuple[Any, ...]] = {}
        self.file = file
        self.key_as_read = self.key

    @property
    def _row_id(self) -> int:
        row_id = find_row(self.file, self.key_as_read)
        if row_id is None:
            raise missing(self.key_as_read, self.file.path)
        return row_id

    def __getattr__(self, name: str) -> Any:
        """Load a collection at its first touch."""
        if name not in COLLECTIONS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self.file.snapshot():
            self._load(name)
            # A proof moves a theorem between these two, so they are read together.
            for sibling in SORRY_LISTS if name in SORRY_LISTS else ():
                if not self.is_loaded(sibling):
                    self._load(sibling)
        self._on_touch(self)
        return self.__dict__[name]

    def _load(self, name: str) -> None:
        if name == "premise_files":
            value: list[Any] = list(self.iter_premise_files())
        elif name == "files_traced":
            value = list(self.iter_files_traced())
        else:
            value = list(self.iter_list(cast("TheoremList", name)))
        self.__dict__[name] = value
        self._as_read[name] = tuple(value)

    def changed_lists(self) -> list[str]:
        """Name the collections that were changed since they were read."""
        # Records are immutable, so compare the objects in the lists.
        return [
            name
            for name, before in self._as_read.items()
            if len(before) != len(self.__dict__[name])
            or not all(map(operator.is_, before, self.__dict__[name]))
        ]

    def forget_changes(self) -> None:
        """Treat the collections as unchanged."""
        for name in self._as_read:
            self._as_read[name] = tuple(self.__dict__[name])

    def __repr__(self) -> str:
        return f"StoredRepository(url={self.url!r}, commit={self.commit!r}, file={self.file.path})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as an ordinary repository."""
        plain = self.in_memory()
        return (Repository, tuple(attrs.asdict(plain, recurse=False).values()))

    def in_memory(self) -> Repository:
        """Return a copy in memory."""
        fields = [field.name for field in attrs.fields(Repository)]
        header = {name: getattr(self, name) for name in fields if name not in COLLECTIONS}
        with self.file.snapshot():
            lists: dict[str, Any] = {name: list(self.iter_list(name)) for name in THEOREM_LISTS}
            return Repository(
                **header,
                **lists,
                premise_files=list(self.iter_premise_files()),
                files_traced=list(self.iter_files_traced()),
            )

    def is_loaded(self, *names: str) -> bool:
        """Whether one of these collections has been touched."""
        return any(name in self.__dict__ for name in names)

    # --- counts --------------------------------------------------------------------------------

    def _count(self, collection: str) -> int:
        if self.is_loaded(collection):
            return len(getattr(self, collection))
        if collection in THEOREM_LISTS:
            sql = "SELECT count(*) FROM theorem WHERE repository = ? AND list = ?"
            number = THEOREM_LISTS.index(collection)
            return self._number(sql, number)
        table = "premise_file" if collection == "premise_files" else "traced_file"
        return self._number(f"SELECT count(*) FROM {table} WHERE repository = ?")  # noqa: S608

    @property
    def total_theorems(self) -> int:
        """Number of theorems, proven or not."""
        with self.file.snapshot():
            return super().total_theorems

    @property
    def num_sorry_theorems(self) -> int:
        """Number of theorems that are or were ``sorry``."""
        with self.file.snapshot():
            return super().num_sorry_theorems

    @property
    def num_premises(self) -> int:
        """Number of premises in its corpus."""
        if self.is_loaded("premise_files"):
            return super().num_premises
        return self._number("SELECT total(num_premises) FROM premise_file WHERE repository = ?")

    def _number(self, sql: str, *values: Any) -> int:
        return int(self.file.rows(sql, (self._row_id, *values))[0][0])

    def difficulty_counts(self) -> Mapping[float | None, int]:
        """Return the number of theorems of each difficulty."""
        if self.is_loaded(*THEOREM_LISTS):
            return super().difficulty_counts()
        sql = "SELECT difficulty, count(*) FROM theorem WHERE repository = ? GROUP BY difficulty"
        return dict(self.file.rows(sql, (self._row_id,)))

    # --- streams -------------------------------------------------------------------------------

    def rows(self, sql: str, *values: int) -> Iterator[Row]:
        """Yield the rows of a query that takes ``(repository, *values, last position, number)``."""
        repository, last = self._row_id, -1
        while rows := self.file.rows(sql, (repository, *values, last, CHUNK)):
            yield from rows
            last = rows[-1][0]

    def theorem_rows(self, columns: str, name: TheoremList) -> Iterator[Row]:
        """Return position and columns of the theorems in one of the lists."""
        return self.rows(_THEOREMS.format(columns=columns), THEOREM_LISTS.index(name))

    def iter_list(self, name: TheoremList) -> Iterator[Theorem]:
        """Yield the theorems of one of the lists."""
        if self.is_loaded(name):
            yield from getattr(self, name)
            return
        for position, *row in self.theorem_rows("line, extra, difficulty", name):
            with located(self.file.path, f"{self.name}, {name}[{position}]"):
                theorem = theorem_of_row(*row)
            yield theorem

    def iter_premise_files(self) -> Iterator[PremiseFile]:
        """Yield the files of the corpus in stored order."""
        if self.is_loaded("premise_files"):
            yield from self.premise_files
            return
        for position, line in self.rows(_PREMISE_FILES.format(columns="line")):
            with located(self.file.path, f"{self.name}, premise_files[{position}]"):
                file = premise_file_from_dict(orjson.loads(line))
            yield file

    def iter_files_traced(self) -> Iterator[str]:
        """Yield the paths of the traced files in stored order."""
        if self.is_loaded("files_traced"):
            yield from self.files_traced
            return
        for _, path in self.rows(_TRACED_FILES):
            yield path

    @property
    def get_all_theorems(self) -> list[Theorem]:
        """All theorems, in a consistent snapshot."""
        with self.file.snapshot():
            return list(self.iter_theorems())

    # --- look-up -------------------------------------------------------------------------------

    def get_theorem(self, full_name: str, file_path: str | Path) -> Theorem | None:
        """Find a theorem by name and file; None if there is none."""
        if self.is_loaded(*THEOREM_LISTS):
            return super().get_theorem(full_name, file_path)
        sql = (
            "SELECT line, extra, difficulty FROM theorem JOIN theorem_record USING (id) "
            "WHERE repository = ? AND full_name = ? AND file_path = ? ORDER BY list, position"
        )
        rows = self.file.rows(sql, (self._row_id, full_name, str(file_path)))
        with located(self.file.path, f"{self.name}, {full_name}"):
            return theorem_of_row(*rows[0]) if rows else None

    def get_premise_file(self, path: str | Path) -> PremiseFile | None:
        """Find a file of the corpus by its path; None if there is none."""
        if self.is_loaded("premise_files"):
            return super().get_premise_file(path)
        line = self.find_corpus_line(str(path))
        with located(self.file.path, f"{self.name}, {path}"):
            return None if line is None else premise_file_from_dict(orjson.loads(line))

    def find_corpus_line(self, path: str) -> bytes | None:
        """Return the line of the first file of the corpus with this path."""
        sql = (
            "SELECT line FROM premise_file WHERE repository = ? AND path = ? "
            "ORDER BY position LIMIT 1"
        )
        rows = self.file.rows(sql, (self._row_id, path))
        return rows[0][0] if rows else None

    def export_source(self) -> ExportSource:
        """Return the export source: the stored lines, if nothing was loaded."""
        return ExportSource(self) if self.is_loaded(*COLLECTIONS) else StoredSource(self)


@attrs.frozen
class StoredSource(ExportSource):
    """The export source of a repository in rows: lines are copied."""

    repository: StoredRepository

    def entries(self) -> Iterator[ExportEntry]:
        """See :meth:`ExportSource.entries`."""
        for number in range(len(THEOREM_LISTS)):
            for _, *entry in self.repository.rows(_ENTRIES, number):
                yield ExportEntry(*entry)

    def lines(self) -> Iterator[bytes]:
        """See :meth:`ExportSource.lines`."""
        for name in THEOREM_LISTS:
            for _, line in self.repository.theorem_rows("line", name):
                yield line

    def imports(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """See :meth:`ExportSource.imports`; a damaged record raises a ``DatabaseError``."""
        stored = self.repository
        for position, path, imports in stored.rows(_PREMISE_FILES.format(columns="path, imports")):
            place = f"{stored.name}, premise_files[{position}].imports"
            with located(stored.file.path, place):
                imported = tuple(orjson.loads(imports))
            yield path, imported

    def corpus_line(self, path: str) -> bytes:
        """See :meth:`ExportSource.corpus_line`; without such a file it raises a DatabaseError."""
        stored = self.repository
        line = stored.find_corpus_line(path)
        if line is None:
            raise DatabaseError(f"{stored.name} lost its file {path}", path=stored.file.path)
        return line


# --- rows of repositories ----------------------------------------------------------------------


def repository_keys(file: SqliteFile) -> list[RepositoryKey]:
    """Return ``(url, commit)`` of every repository, in the order they were added."""
    return [(url, commit) for url, commit in file.rows(_KEYS)]


def read_repository(
    file: SqliteFile, key: RepositoryKey, on_touch: Callable[[StoredRepository], object]
) -> StoredRepository | None:
    """Return a repository; None if there is none.

    Raises:
        DatabaseError: If its row is damaged.
    """
    rows = file.rows(_HEADER, key)
    if not rows:
        return None
    *texts, metadata, pr_url = rows[0]
    header = dict(zip(HEADER, texts, strict=True))
    with located(file.path, f"{header['name']}, metadata"):
        header |= {"metadata": orjson.loads(metadata), "pr_url": pr_url}
    return StoredRepository(file, header, on_touch)


def find_row(file: SqliteFile, key: RepositoryKey) -> int | None:
    """Return the number of a repository's row; None if there is none."""
    rows = file.rows("SELECT id FROM repository WHERE url = ? AND revision = ?", key)
    return rows[0][0] if rows else None


def columns_of(repository: Repository) -> tuple[Any, ...]:
    """Return the columns of a repository's row."""
    texts = [getattr(repository, name) for name in HEADER]
    return (*texts, dumps(metadata_to_json(repository.metadata)), repository.pr_url)
