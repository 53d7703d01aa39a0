"""A repository stored in rows and read lazily."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import orjson

from lean_dojo_v2.data.codec import read_item
from lean_dojo_v2.data.errors import located, missing
from lean_dojo_v2.data.repository import COLLECTIONS, Repository, RepositoryKey
from lean_dojo_v2.database.sqlite.file import SqliteFile

SORRY_LISTS = ("sorry_theorems_proved", "sorry_theorems_unproved")

CHUNK = 256
"""Rows read at a time: short queries do not delay the log's clean-up."""

_ITEMS = """
SELECT position, record FROM item
WHERE repository = ? AND list = ? AND position > ? ORDER BY position LIMIT ?
"""
_ITEMS_OF_FILE = _ITEMS.replace("AND position", "AND path = ? AND position")


class StoredRepository(Repository):
    """A repository whose lists are read from its rows when first touched.

    Counts, :meth:`iter_list`, look-ups and exports never load a list whole. A list that was
    touched is a list like any other; after changing it, call
    :meth:`DynamicDatabase.update_repository`. Reading a damaged record raises a
    ``DatabaseError``.

    Args:
        file: The database file.
        header: The fields of :class:`Repository` except the lists.

    Attributes:
        file: The database file.
        key_as_read: Its key in the file, whatever ``url`` and ``commit`` are set to.
    """

    def __init__(self, file: SqliteFile, header: Mapping[str, Any]) -> None:
        super().__init__(**header)
        for name in COLLECTIONS:
            del self.__dict__[name]  # so that __getattr__ is called
        self.file = file
        self.key_as_read = self.key

    def __getattr__(self, name: str) -> Any:
        """Load a list at its first touch."""
        if name not in COLLECTIONS:
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
        """Let everything read inside the block be of one moment, despite concurrent writers."""
        return self.file.snapshot()

    def iter_list(self, name: str, path: str | None = None) -> Iterator[Any]:
        """Yield the items of one of its lists, if ``path`` is given only those of that file."""
        if name in self.__dict__:
            yield from super().iter_list(name, path)
            return
        sql, wanted = (_ITEMS, ()) if path is None else (_ITEMS_OF_FILE, (path,))
        place = (row_of(self.file, self.key_as_read), COLLECTIONS.index(name), *wanted)
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
        return int(self.file.rows(sql, (row, COLLECTIONS.index(collection)))[0][0])


def row_of(file: SqliteFile, key: RepositoryKey) -> int:
    """Return the number of a repository's row.

    Raises:
        NotInDatabaseError: If there is none.
    """
    rows = file.rows("SELECT id FROM repository WHERE url = ? AND revision = ?", key)
    if not rows:
        raise missing(key, file.path)
    return int(rows[0][0])
