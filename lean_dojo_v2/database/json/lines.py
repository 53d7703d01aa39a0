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

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import orjson

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.codec import (
    INFINITE,
    dump_theorem,
    dumps,
    premise_file_from_dict,
    premise_file_to_dict,
    text_from_json,
    theorem_from_dict,
)
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.data.repository import THEOREM_LISTS, Repository, rated

_BEGIN = b'{"repositories": [\n'
_END = b"]}\n"
_INFINITE_RATING = b'"difficulty_rating":' + INFINITE + b"}"


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
    for name in THEOREM_LISTS:
        _write_list(stream, name, map(dump_theorem, repository.iter_list(name)))
    files = (
        dumps(premise_file_to_dict(file, position=str)) for file in repository.iter_premise_files()
    )
    _write_list(stream, "premise_files", files)
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


def read_lines(stream: IO[bytes]) -> Iterator[Repository]:
    """Read a database file in our layout.

    Raises:
        NotOurLayoutError: If it is not, or if anything is wrong with it; a general reader of
            JSON will say what.
    """
    _expect(stream.readline() == _BEGIN)
    line = stream.readline()
    more = line != _END
    while more:
        try:
            repository, more = _read_repository(stream, line)
        except (orjson.JSONDecodeError, MalformedError, AttributeError, TypeError) as error:
            raise NotOurLayoutError from error
        yield repository
        line = stream.readline()
    _expect(line == _END and not stream.read(1))


def _read_repository(stream: IO[bytes], first: bytes) -> tuple[Repository, bool]:
    """Read one repository, and whether another one follows."""
    _expect(first.endswith(b",\n"))
    header = orjson.loads(first.removesuffix(b",\n") + b"}")
    url, commit = header.get("url"), header.get("commit")

    def read_theorem(line: bytes) -> Theorem:
        if line.endswith(_INFINITE_RATING):
            line = line.removesuffix(INFINITE + b"}") + b"null}"
        return rated(theorem_from_dict(orjson.loads(line), url=url, commit=commit))

    lists: dict[str, list[Any]] = {
        name: _read_list(stream, name, read_theorem) for name in THEOREM_LISTS
    }
    lists["premise_files"] = _read_list(
        stream, "premise_files", lambda line: premise_file_from_dict(orjson.loads(line))
    )
    lists["files_traced"] = _read_list(
        stream, "files_traced", lambda line: text_from_json(orjson.loads(line))
    )
    last = stream.readline().removesuffix(b"\n")
    repository = Repository.from_dict(header | orjson.loads(b"{" + last.removesuffix(b",")))
    for name, items in lists.items():
        setattr(repository, name, items)
    return repository, last.endswith(b",")


def _read_list(stream: IO[bytes], name: str, read: Callable[[bytes], Any]) -> list[Any]:
    _expect(stream.readline() == b'"%b":[\n' % name.encode())
    items: list[Any] = []
    comma = True
    for line in stream:
        if line == b"],\n":
            _expect(not comma or not items)
            return items
        _expect(comma)
        comma = line.endswith(b",\n")
        items.append(read(line[:-2] if comma else line[:-1]))
    raise NotOurLayoutError


def _expect(condition: bool) -> None:
    if not condition:
        raise NotOurLayoutError
