"""Repositories in a JSON file, read whole on opening and rewritten at each change."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, TypeAlias

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data import (
    MalformedError,
    Repository,
    RepositoryKey,
    dump_item,
    dumps,
    field,
    items_from_json,
    keep_proofs,
    located,
    missing,
)
from lean_dojo_v2.database.locking import file_lock, require_bytes
from lean_dojo_v2.errors import DatabaseError
from lean_dojo_v2.files import atomic_writer, read_json

Contents: TypeAlias = Mapping[RepositoryKey, Repository]
"""Immutable: a change makes a new mapping with new objects for changed repositories."""
_Stamp: TypeAlias = tuple[int, int, int]


@attrs.define(eq=False)
class JsonStorage:
    """Repositories in memory, synchronised with a JSON file if there is a path.

    Reading needs no lock, since the file is replaced atomically. If another process has replaced
    it, it is read again. A missing one is created by the first change, unless it is ``read_only``.
    Repositories are passed as copies.
    """

    path: Path | None = None
    read_only: bool = False
    _held: tuple[_Stamp | None, Contents] = attrs.field(default=(None, {}), init=False, repr=False)
    _mutex: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.path is not None and (self.read_only or self.path.exists()):
            require_bytes(self.path)
        self._contents()

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""
        return list(self._contents())

    def repositories(self) -> Iterator[Repository]:
        """Yield every repository, one after the other."""
        return (repository.in_memory() for repository in self._contents().values())

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository; None if there is none."""
        stored = self._contents().get(key)
        return None if stored is None else stored.in_memory()

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
            proved = self._find(contents, new.key).sorry_theorems_proved
            new.sorry_theorems_proved, new.sorry_theorems_unproved = keep_proofs(proved, new)
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

    def snapshot(self) -> AbstractContextManager[object]:
        """Do nothing: what is read is a copy already."""
        return nullcontext()

    def close(self) -> None:
        """Drop the contents; the next access reads the file again."""
        if self.path is not None:
            self._held = (None, {})

    def _find(self, contents: Contents, key: RepositoryKey) -> Repository:
        if key not in contents:
            raise missing(key, self.path)
        return contents[key]

    def _contents(self) -> Contents:
        stamp, contents = self._held
        now = self._file_stamp()
        if self.path is not None and now is not None and now != stamp:
            require_bytes(self.path)
            found = read_json(self.path, DatabaseError)
            with located(self.path):
                contents = repositories_from_dict(found)
            self._held = (now, contents)
        return contents

    @contextmanager
    def _change(self) -> Iterator[dict[RepositoryKey, Repository]]:
        """Yield the contents for changing, as the only writer; stored atomically."""
        if self.read_only:
            raise DatabaseError("is opened for reading only", path=self.path)
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


def write_repositories(stream: IO[bytes], repositories: Iterable[Repository]) -> None:
    """Write a database file with one theorem or premise file per line, for readable diffs."""
    separator = b'{"repositories": ['
    for repository in repositories:
        header = repository.header_to_dict()
        pr_url = header.pop("pr_url")
        stream.write(separator + b"\n" + dumps(header).removesuffix(b"}") + b",\n")
        for name in repository.stored_lists():
            stream.write(b'"%b":[' % name.encode())
            for number, item in enumerate(repository.iter_list(name)):
                stream.write((b",\n" if number else b"\n") + dump_item(item))
            stream.write(b"\n],\n")
        stream.write(b'"pr_url":' + dumps(pr_url) + b"}")
        separator = b","
    stream.write(b'{"repositories": [\n]}\n' if separator != b"," else b"\n]}\n")


def repositories_from_dict(data: object) -> Contents:
    """Read ``{"repositories": […]}``; the first record of a commit counts."""
    if not isinstance(data, Mapping) or not isinstance(data.get("repositories"), list):
        raise MalformedError('not a LeanDojo database: it must be {"repositories": […]}')
    found: dict[RepositoryKey, Repository] = {}
    for repository in field(data, "repositories", items_from_json(Repository.from_dict)):
        found.setdefault(repository.key, repository)
    return found
