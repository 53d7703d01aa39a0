"""Read ``dynamic_database.json``, LeanDojo-v2's file of traced repositories, whoever wrote it."""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.data.errors import MalformedError, located
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.json.lines import NotOurLayoutError, read_lines
from lean_dojo_v2.database.json.rows import JSON_FORM
from lean_dojo_v2.database.sqlite.schema import TABLES
from lean_dojo_v2.database.sqlite.update import insert_repository
from lean_dojo_v2.json_text import parse_json


def read_database(path: Path, connection: sqlite3.Connection) -> None:
    """Read a whole database file into rows.

    A file in the layout of :mod:`~lean_dojo_v2.database.json.lines` is read line by line, which
    takes a third of the time and memory; any other, and any in which something is wrong, is
    parsed as a whole.

    Args:
        path: The file.
        connection: In a transaction; nothing is there yet.

    Raises:
        DatabaseError: Naming the file and the line or key path, if it is not what it should be.
    """
    with paused_garbage_collection():
        try:
            with path.open("rb") as stream:
                read_lines(stream, connection)
        except NotOurLayoutError:
            for table in TABLES:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608
            for index, repository in enumerate(_read_as_a_whole(path)):
                try:
                    insert_repository(connection, JSON_FORM, repository)
                except (DatabaseError, UnicodeEncodeError) as error:
                    place, what = f"repositories[{index}]", f"cannot be stored: {error}"
                    raise DatabaseError(what, path=path, place=place) from error
        except OSError as error:
            raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error


def _read_as_a_whole(path: Path) -> list[Repository]:
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3\0"):
        raise DatabaseError("an SQLite database; give it the suffix .sqlite", path=path)
    with located(path):
        return repositories_from_dict(_parse(data, path))


def _parse(data: bytes, path: Path) -> Any:
    try:
        return parse_json(data)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno} (character {error.pos})"
        message = (
            f"not JSON, or cut off: {error.msg}. The file is left as it is; restore it "
            "from a copy, or open a database at another path"
        )
        raise DatabaseError(message, path=path, place=place) from error
    except UnicodeDecodeError as error:
        message = "not UTF-8. The file is left as it is"
        raise DatabaseError(message, path=path, place=f"byte {error.start}") from error
    except ValueError as error:
        raise DatabaseError(f"{error}. The file is left as it is", path=path) from error


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Build millions of objects without Python looking through them all again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def repositories_from_dict(data: object) -> list[Repository]:
    """Read ``{"repositories": […]}``; of several records of one commit the first counts.

    Raises:
        MalformedError: (a ValueError) naming the key path of what is wrong.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("repositories"), list):
        raise MalformedError('not a LeanDojo database: it must be {"repositories": […]}')
    repositories: list[Repository] = []
    try:
        repositories.extend(map(Repository.from_dict, data["repositories"]))
    except MalformedError as error:
        raise error.inside(f"repositories[{len(repositories)}]") from error
    return list(dict.fromkeys(repositories))
