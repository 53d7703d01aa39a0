"""``dynamic_database.json``: LeanDojo-v2's file of traced repositories, read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.database.codec import premise_file_to_dict
from lean_dojo_v2.database.encode import dump_theorem, dumps
from lean_dojo_v2.database.errors import MalformedError, located
from lean_dojo_v2.database.repository import THEOREM_LISTS, Repository

# An infinite difficulty: 1e999 is ours, the words are Python's. The unescaped quotes cannot stand
# inside a JSON string, so this never touches the text of a theorem.
_NOT_FINITE = re.compile(rb'("difficulty_rating":\s*)(?:1e999|-?Infinity|NaN)')


def read_repositories(path: Path) -> list[Repository]:
    """Read a whole database file.

    Raises:
        DatabaseError: Naming the file and the line or key path, if it is not what it should be.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error
    if data.startswith(b"SQLite format 3\0"):
        raise DatabaseError("an SQLite database; give it the suffix .sqlite", path=path)
    with located(path):
        return repositories_from_dict(_parse(data, path))


def _parse(data: bytes, path: Path) -> Any:
    try:
        return orjson.loads(_NOT_FINITE.sub(rb"\1null", data) if b"1e999" in data else data)
    except orjson.JSONDecodeError:
        try:
            return json.loads(data)  # takes NaN and Infinity; says where a mistake really is
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


def repositories_from_dict(data: object) -> list[Repository]:
    """Read ``{"repositories": […]}``.

    Raises:
        MalformedError: (a ValueError) naming the key path of what is wrong.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("repositories"), list):
        raise MalformedError('not a LeanDojo database: it must be {"repositories": […]}')
    repositories: dict[Repository, Repository] = {}
    for index, item in enumerate(data["repositories"]):
        try:
            repository = Repository.from_dict(item)
        except MalformedError as error:
            raise error.inside(f"repositories[{index}]") from error
        repositories.setdefault(repository, repository)
    return list(repositories)


def write_repositories(stream: IO[bytes], repositories: Iterable[Repository]) -> None:
    """Write a database file, a theorem or premise file at a time."""
    opening = b'{"repositories": [\n'
    for repository in repositories:
        stream.write(opening)
        _write_repository(stream, repository)
        opening = b",\n"
    stream.write(b'{"repositories": []}\n' if opening[:1] == b"{" else b"\n]}\n")


def _write_repository(stream: IO[bytes], repository: Repository) -> None:
    header = repository.header_to_dict()
    pr_url = header.pop("pr_url")
    stream.write(dumps(header).removesuffix(b"}"))
    for name in THEOREM_LISTS:
        _write_list(stream, name, map(dump_theorem, repository.iter_list(name)))
    files = (
        dumps(premise_file_to_dict(file, position=str)) for file in repository.iter_premise_files()
    )
    _write_list(stream, "premise_files", files)
    _write_list(stream, "files_traced", map(dumps, repository.iter_files_traced()))
    stream.write(b',\n"pr_url":' + dumps(pr_url) + b"}")


def _write_list(stream: IO[bytes], name: str, items: Iterator[bytes]) -> None:
    stream.write(b',\n"%b":[' % name.encode())
    separator = b"\n"
    for item in items:
        stream.write(separator)
        stream.write(item)
        separator = b",\n"
    stream.write(b"]")
