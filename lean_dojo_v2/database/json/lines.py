"""Our layout of ``dynamic_database.json``: plain JSON with one theorem or premise file a line.

So it is written, and read back, without ever holding the whole text or its parsed form, and
differences between two versions can be read. Each repository looks like this::

    {"url":…,"name":…,…,
    "proven_theorems":[
    {…},
    {…}
    ],
    …
    "pr_url":null}
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeVar

import orjson

from lean_dojo_v2.data.codec import dumps, text_from_json
from lean_dojo_v2.data.repository import THEOREM_LISTS, Repository
from lean_dojo_v2.database.json.rows import premise_row_of_line, row_of_line
from lean_dojo_v2.database.sqlite.update import (
    insert_header,
    insert_premise_files,
    insert_theorems,
    insert_traced_files,
    update_header,
)
from lean_dojo_v2.json_text import parse_json

_BEGIN = b'{"repositories": [\n'
_END = b"]}\n"

_T = TypeVar("_T")


class NotOurLayoutError(ValueError):
    """The file is laid out otherwise, or something in it is wrong."""


# --- writing -----------------------------------------------------------------------------------


def write_repositories(stream: IO[bytes], repositories: Iterable[Repository]) -> None:
    """Write a database file, a theorem or premise file at a time."""
    stream.write(_BEGIN)
    separator = b""
    for repository in repositories:
        stream.write(separator)
        _write_repository(stream, repository)
        separator = b",\n"
    stream.write((b"\n" if separator else b"") + _END)


def _write_repository(stream: IO[bytes], repository: Repository) -> None:
    header = repository.header_to_dict()
    pr_url = header.pop("pr_url")
    stream.write(dumps(header).removesuffix(b"}") + b",\n")
    for name in repository.stored_lists():
        _write_list(stream, name, repository.json_theorems(name))
    _write_list(stream, "premise_files", repository.json_premise_files())
    _write_list(stream, "files_traced", map(dumps, repository.iter_files_traced()))
    stream.write(b'"pr_url":' + dumps(pr_url) + b"}")


def _write_list(stream: IO[bytes], name: str, items: Iterator[bytes]) -> None:
    stream.write(b'"%b":[' % name.encode())
    separator = b"\n"
    for item in items:
        stream.write(separator)
        stream.write(item)
        separator = b",\n"
    stream.write(b"\n],\n")


# --- reading -----------------------------------------------------------------------------------


def read_lines(stream: IO[bytes], connection: sqlite3.Connection) -> None:
    """Read a database file in our layout into rows.

    Raises:
        NotOurLayoutError: If it is not, or if anything is wrong with it; a general reader of
            JSON will say what.
    """
    _expect(stream.readline() == _BEGIN)
    line = stream.readline()
    more = line != _END
    while more:
        try:
            more = _read_repository(stream, line, connection)
        except (ValueError, AttributeError, TypeError) as error:
            raise NotOurLayoutError from error
        line = stream.readline()
    _expect(line == _END and not stream.read(1))


def _read_repository(stream: IO[bytes], first: bytes, connection: sqlite3.Connection) -> bool:
    """Read one repository; tell whether another one follows."""
    _expect(first.endswith(b",\n"))
    header = parse_json(first.removesuffix(b",\n") + b"}")
    url, commit = header.get("url"), header.get("commit")
    row = insert_header(connection, Repository.from_dict(header))
    if row is None:
        raise NotOurLayoutError
    for number, name in enumerate(THEOREM_LISTS):
        if name == "other_proofs" and not _is_next(stream, name):
            continue
        theorems = _read_list(stream, name, lambda line: row_of_line(line, url, commit))
        insert_theorems(connection, row, number, enumerate(theorems))
    insert_premise_files(connection, row, _read_list(stream, "premise_files", premise_row_of_line))
    paths = _read_list(stream, "files_traced", lambda line: text_from_json(orjson.loads(line)))
    insert_traced_files(connection, row, paths)
    last = stream.readline().removesuffix(b"\n")
    rest = parse_json(b"{" + last.removesuffix(b","))
    update_header(connection, row, Repository.from_dict(header | rest))
    return last.endswith(b",")


def _is_next(stream: IO[bytes], name: str) -> bool:
    """Whether a list comes next, which may be missing."""
    place = stream.tell()
    line = stream.readline()
    stream.seek(place)
    return line.startswith(b'"%b"' % name.encode())


def _read_list(stream: IO[bytes], name: str, read: Callable[[bytes], _T]) -> Iterator[_T]:
    _expect(stream.readline() == b'"%b":[\n' % name.encode())
    comma, some = True, False
    for line in stream:
        if line == b"],\n":
            _expect(not (comma and some))
            return
        _expect(comma)
        comma, some = line.endswith(b",\n"), True
        yield read(line[:-2] if comma else line[:-1])
    raise NotOurLayoutError


def _expect(condition: bool) -> None:
    if not condition:
        raise NotOurLayoutError
