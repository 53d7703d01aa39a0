"""Repositories stored in rows, and read lazily."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import orjson

from lean_dojo_core.records import PremiseFile, Theorem
from lean_dojo_v2.data import (
    HEADER_FIELDS,
    LIST_FIELDS,
    Repository,
    RepositoryKey,
    dumps,
    item_to_json,
    keep_proofs,
    located,
    metadata_to_json,
    missing,
    not_found,
    path_of,
    read_item,
    theorem_from_dict,
)
from lean_dojo_v2.database.sqlite_file import SqliteFile

SORRY_LISTS = ("sorry_theorems_proved", "sorry_theorems_unproved")
PROVED, UNPROVED = map(LIST_FIELDS.index, SORRY_LISTS)

CHUNK = 256
"""Rows read at a time: short queries do not delay the log's clean-up."""

_ITEMS = """
SELECT position, record FROM item
WHERE repository = ? AND list = ? AND position > ? ORDER BY position LIMIT ?
"""
_ITEMS_OF_FILE = _ITEMS.replace("AND position", "AND path = ? AND position")


class StoredRepository(Repository):
    """A repository whose lists are read from its rows when first touched.

    Counts, :meth:`iter_list`, look-ups and exports never load a list whole.
    """

    def __init__(self, file: SqliteFile, header: Mapping[str, Any]) -> None:
        super().__init__(**header)
        for name in LIST_FIELDS:
            del self.__dict__[name]  # so that __getattr__ is called
        self.file = file
        self.key_as_read = self.key  # whatever `url` and `commit` are set to

    def __getattr__(self, name: str) -> Any:
        """Load a list at its first touch."""
        if name not in LIST_FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        # A proof moves a theorem between these two, so they are read together.
        names = SORRY_LISTS if name in SORRY_LISTS else (name,)
        with self.snapshot():
            self.__dict__.update({one: list(self.iter_list(one)) for one in names})
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        """Pickle it as an ordinary repository."""
        return (Repository.from_dict, (self.to_dict(),))

    def snapshot(self) -> AbstractContextManager[object]:
        """See :meth:`Repository.snapshot`."""
        return self.file.snapshot()

    def iter_list(self, name: str, path: str | None = None) -> Iterator[Any]:
        """See :meth:`Repository.iter_list`."""
        if name in self.__dict__:
            yield from super().iter_list(name, path)
            return
        sql, wanted = (_ITEMS, ()) if path is None else (_ITEMS_OF_FILE, (path,))
        place = (row_of(self.file, self.key_as_read), LIST_FIELDS.index(name), *wanted)
        last = -1
        while rows := self.file.rows(sql, (*place, last, CHUNK)):
            for last, record in rows:
                with located(self.file.path, f"{self.name}, {name}[{last}]"):
                    item = read_item(name, orjson.loads(record), url=self.url, commit=self.commit)
                yield item

    def _count(self, collection: str) -> int:
        if collection in self.__dict__:
            return super()._count(collection)
        sql = "SELECT count(*) FROM item WHERE repository = ? AND list = ?"
        row = row_of(self.file, self.key_as_read)
        return int(self.file.rows(sql, (row, LIST_FIELDS.index(collection)))[0][0])


def row_of(file: SqliteFile, key: RepositoryKey) -> int:
    """Return the number of a repository's row; a ``NotInDatabaseError`` if there is none."""
    rows = file.rows("SELECT id FROM repository WHERE url = ? AND revision = ?", key)
    if not rows:
        raise missing(key, file.path)
    return int(rows[0][0])


class SqliteStorage(SqliteFile):
    """An SQLite file with repositories in its rows.

    Each change takes effect at once and atomically. Several processes may use one file; a change
    applies to its current contents, so that none of them loses another's.
    """

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""
        rows = self.rows("SELECT url, revision FROM repository ORDER BY id")
        return [(url, commit) for url, commit in rows]

    def repositories(self) -> Iterator[Repository]:
        """Yield every repository, one after the other."""
        return filter(None, map(self.get, self.repository_keys()))

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository; None if there is none."""
        rows = self.rows("SELECT header FROM repository WHERE url = ? AND revision = ?", key)
        if not rows:
            return None
        with located(self.path, f"{key[0]}, header"):
            header = orjson.loads(rows[0][0])
        return StoredRepository(self, header)

    def add(self, repository: Repository) -> bool:
        """Add a repository; False, and nothing done, if it is there."""
        if isinstance(repository, StoredRepository) and repository.file is self:
            repository = repository.in_memory()  # the new row may have the key of its rows
        with self.transaction() as connection:
            added = connection.execute(
                "INSERT INTO repository (url, revision, header) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING RETURNING id",
                (*repository.key, _header(repository)),
            ).fetchone()
            for name in LIST_FIELDS if added else ():
                _insert(connection, added[0], name, repository.iter_list(name))
            return added is not None

    def update(self, repository: Repository) -> None:
        """Replace a repository; proofs recorded in the meantime stay.

        Lists of a repository from this very file that were never touched are left alone.
        """
        ours = isinstance(repository, StoredRepository) and repository.file is self
        own = ours and repository.key == getattr(repository, "key_as_read", None)
        if own and repository.__dict__.keys() & set(SORRY_LISTS):
            for name in SORRY_LISTS:
                getattr(repository, name)  # a proof moves a theorem between these two
        changed = [name for name in LIST_FIELDS if not own or name in repository.__dict__]
        moment = nullcontext() if ours else repository.snapshot()
        with moment, self.transaction() as connection:
            row = row_of(self, repository.key)
            connection.execute(
                "UPDATE repository SET header = ? WHERE id = ?", (_header(repository), row)
            )
            lists = {name: repository.iter_list(name) for name in changed}
            if lists.keys() >= set(SORRY_LISTS):
                url, commit = repository.key
                stored = StoredRepository(self, {"url": url, "commit": commit})
                kept = keep_proofs(stored.iter_list(SORRY_LISTS[0]), repository)
                lists |= dict(zip(SORRY_LISTS, map(iter, kept), strict=True))
            for name, items in lists.items():
                connection.execute(
                    "DELETE FROM item WHERE repository = ? AND list = ?",
                    (row, LIST_FIELDS.index(name)),
                )
                _insert(connection, row, name, items)

    def delete(self, key: RepositoryKey) -> None:
        """Remove a repository."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM repository WHERE id = ?", (row_of(self, key),))

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """Move a theorem from the unproved to the proved ``sorry`` theorems."""
        with self.transaction() as connection:
            row = row_of(self, key)
            found = self._find_unproved(connection, row, theorem)
            if found is None:
                raise not_found(theorem, Repository(*key), ("sorry_theorems_unproved",))
            connection.execute(
                "UPDATE item SET list = ?, record = ?, position = (SELECT"
                " coalesce(max(position), -1) + 1 FROM item WHERE repository = ? AND list = ?)"
                " WHERE id = ?",
                (PROVED, _record(theorem), row, PROVED, found),
            )

    def _find_unproved(
        self, connection: sqlite3.Connection, row: int, theorem: Theorem
    ) -> int | None:
        """Find the item of a theorem: that at its very place, else the first of its name."""
        named: dict[Any, int] = {}
        for item, record in connection.execute(
            "SELECT id, record FROM item WHERE repository = ? AND list = ? AND path = ?"
            " ORDER BY position",
            (row, UNPROVED, theorem.file_path),
        ):
            with located(self.path, f"{SORRY_LISTS[1]} of {theorem.file_path}"):
                other = theorem_from_dict(orjson.loads(record))
            if other.full_name == theorem.full_name:
                named.setdefault(other.identity, item)
        return named.get(theorem.identity, next(iter(named.values()), None))

    def make_file(self) -> None:
        """Create an empty file if there is none."""
        if not self.path.exists():
            with self.transaction():
                pass


def _header(repository: Repository) -> str:
    """Return the fields of a repository except its lists, as JSON."""
    texts = {name: getattr(repository, name) for name in (*HEADER_FIELDS, "pr_url")}
    return dumps(texts | {"metadata": metadata_to_json(repository.metadata)}).decode()


def _record(item: Theorem | PremiseFile | str) -> str:
    return dumps(item_to_json(item)).decode()


def _insert(connection: sqlite3.Connection, row: int, name: str, items: Iterable[Any]) -> None:
    connection.executemany(
        "INSERT INTO item (repository, list, position, path, record) VALUES (?, ?, ?, ?, ?)",
        (
            (row, LIST_FIELDS.index(name), position, path_of(item), _record(item))
            for position, item in enumerate(items)
        ),
    )
