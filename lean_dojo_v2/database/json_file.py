"""Repositories in a JSON file, read whole on opening and rewritten at each change."""

from __future__ import annotations

import json
import operator
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.data.codec import dumps
from lean_dojo_v2.data.errors import MalformedError, located, missing
from lean_dojo_v2.data.repository import COLLECTIONS, Repository, RepositoryKey
from lean_dojo_v2.database.locking import file_lock, require_bytes
from lean_dojo_v2.errors import DatabaseError
from lean_dojo_v2.json_text import parse_json

Contents: TypeAlias = Mapping[RepositoryKey, Repository]
"""Immutable: a change makes a new mapping with new objects for changed repositories."""
_Stamp: TypeAlias = tuple[int, int, int]
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""A lone surrogate, which JSON may contain."""


@attrs.define(eq=False)
class JsonStorage:
    """Repositories in memory, synchronised with a JSON file if there is a path.

    Reading needs no lock, since the file is replaced atomically. If another process has replaced
    it, it is read again. Repositories are passed as copies.

    Attributes:
        path: The file. A missing one is created by the first change.
        read_only: Refuse changes, and a missing file.
    """

    path: Path | None = None
    read_only: bool = False
    _held: tuple[_Stamp | None, Contents] = attrs.field(default=(None, {}), init=False, repr=False)
    _mutex: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)
    _local: threading.local = attrs.field(factory=threading.local, init=False, repr=False)
    """``pinned``: the contents that this thread reads in a snapshot."""
    _given: list[tuple[Repository, dict[str, list[Any]]]] = attrs.field(
        factory=list, init=False, repr=False
    )
    """The last returned object of each repository, and changed older ones, with their lists."""

    def __attrs_post_init__(self) -> None:
        if self.path is not None and (self.read_only or self.path.exists()):
            require_bytes(self.path)
        self._contents()

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""
        return list(self._contents())

    def repositories(self) -> Iterator[Repository]:
        """Yield every repository, one after the other."""
        with self.snapshot():
            found = [repository for key in self.repository_keys() if (repository := self.get(key))]
        yield from found

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository; None if there is none."""
        stored = self._contents().get(key)
        if stored is None:
            return None
        repository = stored.in_memory()
        self._given = [
            one for one in self._given if one[0].key != repository.key or _is_changed(*one)
        ]
        self._given.append((repository, _lists(stored)))
        return repository

    def add(self, repository: Repository) -> bool:
        """Add a repository; False, and nothing done, if it is there."""
        if repository.key in self._contents():
            return False
        added = repository.in_memory()
        with self._change() as contents:
            return contents.setdefault(added.key, added) is added

    def update(self, repository: Repository) -> None:
        """Replace a repository; proofs recorded in the meantime stay."""
        new = repository.in_memory()
        with self._change() as contents:
            proofs = {
                one.identity: one for one in self._find(contents, new.key).sorry_theorems_proved
            }
            known = {one.identity for one in new.sorry_theorems_proved}
            new.sorry_theorems_proved += [
                proofs[one.identity]
                for one in new.sorry_theorems_unproved
                if one.identity in proofs and one.identity not in known
            ]
            new.sorry_theorems_unproved = [
                one for one in new.sorry_theorems_unproved if one.identity not in proofs
            ]
            contents[new.key] = new

    def delete(self, key: RepositoryKey) -> None:
        """Remove a repository."""
        with self._change() as contents:
            self._find(contents, key)
            del contents[key]

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """Move a theorem from the unproved to the proved ``sorry`` theorems."""
        with self._change() as contents:
            changed = self._find(contents, key).in_memory()
            changed.change_sorry_to_proven(theorem)
            contents[key] = changed

    def make_file(self) -> None:
        """Create an empty file if there is none."""
        if self.path is not None and not self.path.exists():
            with self._change():
                pass

    def flush(self) -> None:
        """Store changes made to returned repository objects."""
        for index, (repository, lists) in enumerate(self._given):
            if _is_changed(repository, lists) and repository.key in self._contents():
                repository.rate_theorems()
                self.update(repository)
                self._given[index] = (repository, _lists(repository))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Give this thread a consistent view inside the block."""
        outer = getattr(self._local, "pinned", None)
        self._local.pinned = self._contents()
        try:
            yield
        finally:
            self._local.pinned = outer

    def close(self) -> None:
        """Drop the contents; the next access reads the file again."""
        self._given.clear()
        if self.path is not None:
            self._held = (None, {})

    # --- the file ------------------------------------------------------------------------------

    def _find(self, contents: Contents, key: RepositoryKey) -> Repository:
        if key not in contents:
            raise missing(key, self.path)
        return contents[key]

    def _contents(self) -> Contents:
        """Return the contents of the file, or of this thread's snapshot."""
        pinned: Contents | None = getattr(self._local, "pinned", None)
        if pinned is not None:
            return pinned
        stamp, contents = self._held
        now = self._file_stamp()
        if self.path is not None and now is not None and now != stamp:
            require_bytes(self.path)
            contents = read_database(self.path)
            self._held = (now, contents)
        return contents

    @contextmanager
    def _change(self) -> Iterator[dict[RepositoryKey, Repository]]:
        """Yield the contents for changing, as the only writer; stored atomically.

        Raises:
            DatabaseError: If another process has been writing for longer than two minutes.
        """
        if self.read_only:
            raise DatabaseError("is opened for reading only", path=self.path)
        if getattr(self._local, "pinned", None) is not None:
            raise DatabaseError("cannot be changed inside a snapshot", path=self.path)
        with self._mutex if self.path is None else file_lock(self.path):
            contents = dict(self._contents())
            yield contents
            if self.path is not None:
                try:
                    with atomic_writer(self.path) as stream:
                        write_repositories(stream, contents.values())
                except OSError as error:
                    text = f"cannot be written: {error.strerror}"
                    raise DatabaseError(text, path=self.path) from error
            self._held = (self._file_stamp(), contents)

    def _file_stamp(self) -> _Stamp | None:
        try:
            status = None if self.path is None else self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            status = None
        return None if status is None else (status.st_mtime_ns, status.st_size, status.st_ino)


def _lists(repository: Repository) -> dict[str, list[Any]]:
    return {name: list(getattr(repository, name)) for name in COLLECTIONS}


def _is_changed(repository: Repository, given: Mapping[str, list[Any]]) -> bool:
    """Whether a list differs from the returned one; records are immutable."""
    return any(
        len(before) != len(now) or not all(map(operator.is_, before, now))
        for name, before in given.items()
        for now in [getattr(repository, name)]
    )


# --- the text ----------------------------------------------------------------------------------


def write_repositories(stream: IO[bytes], repositories: Iterable[Repository]) -> None:
    """Write a database file with one theorem or premise file per line, for readable diffs."""
    separator = b'{"repositories": ['
    for repository in repositories:
        header = repository.header_to_dict()
        pr_url = header.pop("pr_url")
        stream.write(separator + b"\n" + dumps(header).removesuffix(b"}") + b",\n")
        for name, lines in repository.json_lists():
            stream.write(b'"%b":[' % name.encode())
            for number, line in enumerate(lines):
                stream.write((b",\n" if number else b"\n") + line)
            stream.write(b"\n],\n")
        stream.write(b'"pr_url":' + dumps(pr_url) + b"}")
        separator = b","
    stream.write(b'{"repositories": [\n]}\n' if separator != b"," else b"\n]}\n")


def read_database(path: Path) -> Contents:
    """Read a database file of any version.

    Raises:
        DatabaseError: Naming the file and the line or key path, if it is malformed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error
    if data.startswith(b"SQLite format 3\0"):
        raise DatabaseError("an SQLite database; give it the suffix .sqlite", path=path)
    try:
        found = parse_json(data)
        if _SURROGATE.search(data):
            dumps(found)
    except DatabaseError as error:
        raise DatabaseError(f"{error}. The file is left as it is", path=path) from error
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
    with located(path):
        return repositories_from_dict(found)


def repositories_from_dict(data: object) -> Contents:
    """Read ``{"repositories": […]}``; the first record of a commit counts.

    Raises:
        MalformedError: (a ValueError) naming the key path of what is wrong.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("repositories"), list):
        raise MalformedError('not a LeanDojo database: it must be {"repositories": […]}')
    found: dict[RepositoryKey, Repository] = {}
    for index, item in enumerate(data["repositories"]):
        try:
            repository = Repository.from_dict(item)
        except MalformedError as error:
            raise error.inside(f"repositories[{index}]") from error
        found.setdefault(repository.key, repository)
    return found
