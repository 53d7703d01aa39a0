"""Streams out of an SQLite file: what an export and a stored repository read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import orjson

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.data.repository import THEOREM_LISTS, TheoremList
from lean_dojo_v2.database.export.source import ExportEntry
from lean_dojo_v2.database.sqlite.file import Row, SqliteFile

CHUNK = 256
"""Rows read at a time: queries end quickly, so that no reader holds up the log's clean-up."""

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


@attrs.frozen
class StoredSource:
    """The export source of a repository in an SQLite file.

    Attributes:
        file: The database file.
        row_id: The repository's row.
        name: Its name, for messages.
    """

    file: SqliteFile
    row_id: int
    name: str

    def entries(self) -> Iterator[ExportEntry]:
        """See :meth:`ExportSource.entries`."""
        for number in range(len(THEOREM_LISTS)):
            for _, *entry in self._paged(_ENTRIES, number):
                yield ExportEntry(*entry)

    def lines(self) -> Iterator[bytes]:
        """See :meth:`ExportSource.lines`."""
        for name in THEOREM_LISTS:
            for _, line in self.theorem_rows("line", name):
                yield line

    def imports(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """See :meth:`ExportSource.imports`.

        Raises:
            DatabaseError: If a stored record is damaged.
        """
        for position, path, imports in self.premise_file_rows("path, imports"):
            try:
                yield path, tuple(orjson.loads(imports))
            except orjson.JSONDecodeError as error:
                place = f"{self.name}, premise_files[{position}].imports"
                message = f"a damaged record: {error}"
                raise DatabaseError(message, path=self.file.path, place=place) from error

    def corpus_line(self) -> Callable[[str], bytes]:
        """See :meth:`ExportSource.corpus_line`.

        Raises:
            DatabaseError: By the function given, if there is no such file.
        """

        def read(path: str) -> bytes:
            line = self.find_corpus_line(path)
            if line is None:
                raise DatabaseError(f"{self.name} lost its file {path}", path=self.file.path)
            return line

        return read

    def files_traced(self) -> Iterator[str]:
        """See :meth:`ExportSource.files_traced`."""
        for _, path in self._paged(_TRACED_FILES):
            yield path

    def theorem_rows(self, columns: str, name: TheoremList) -> Iterator[Row]:
        """Return position and columns of the theorems in one of the three lists."""
        return self._paged(_THEOREMS.format(columns=columns), THEOREM_LISTS.index(name))

    def premise_file_rows(self, columns: str) -> Iterator[Row]:
        """Return position and columns of the files of the corpus."""
        return self._paged(_PREMISE_FILES.format(columns=columns))

    def find_corpus_line(self, path: str) -> bytes | None:
        """Return the line of the first file of the corpus with this path."""
        sql = (
            "SELECT line FROM premise_file WHERE repository = ? AND path = ? "
            "ORDER BY position LIMIT 1"
        )
        rows = self.file.rows(sql, (self.row_id, path))
        return rows[0][0] if rows else None

    def _paged(self, sql: str, *values: int) -> Iterator[Row]:
        last = -1
        while rows := self.file.rows(sql, (self.row_id, *values, last, CHUNK), place=self.name):
            yield from rows
            last = rows[-1][0]
