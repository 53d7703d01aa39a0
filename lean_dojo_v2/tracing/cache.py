"""What has been traced, by content: files that did not change are not elaborated again.

A file's key hashes what its result depends on: its text and path, the texts of all project files
that it imports, the engine with its version, for the project's own Lean also the lakefile, Lean's
options and the locked dependencies, and the code that reads them. So a second
trace reads the cache alone, a killed one goes on where it was, and a change is traced again with
exactly what imports it. What no key can know is whether imports are built: what rests on one that
is not, and so was elaborated in memory without the options of its package, is not kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

from cattrs import BaseValidationError
from cattrs.preconf.orjson import OrjsonConverter, make_converter

from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.paths import cache_dir
from lean_dojo_v2.tracing.project.workspace import SourceFile
from lean_dojo_v2.tracing.reading.records import TracedFile

_READERS = ("tracing", "lean/text", "lean/program")
"""Folders of this package whose code decides what is extracted from a file."""


@cache
def readers_digest() -> str:
    """Hash the code that reads what Lean says: another one may give something else."""
    top = Path(__file__).parent.parent
    files = sorted(file for folder in _READERS for file in (top / folder).rglob("*.*"))
    read = (file.read_bytes() for file in files if file.suffix in {".py", ".lean"})
    return sha256(b"\0".join(read)).hexdigest()


@cache
def _converter() -> OrjsonConverter:
    return make_converter()


class TraceCache:
    """Traced files on disk, below ``raid/cache/trace``.

    ``engine`` identifies the engine and its version, ``state`` what else all results depend on.
    """

    def __init__(self, engine: str, state: str = "") -> None:
        self._engine = engine
        self._state = state
        self._folder = cache_dir() / "trace"

    def key(self, file: SourceFile, closure: Iterable[SourceFile], imports: Iterable[str]) -> str:
        """Return the key of a file's result.

        ``closure`` are the project files that it imports, directly or not, ``imports`` the paths
        of its direct imports.
        """
        digest = sha256()
        for part in (readers_digest(), self._engine, self._state, *imports, ""):
            digest.update(f"{part}\0".encode())
        for source in (*closure, file):
            content = sha256(source.text.encode()).hexdigest()
            digest.update(f"{source.module}\0{source.path}\0{content}\0".encode())
        return digest.hexdigest()

    def get(self, key: str) -> TracedFile | None:
        """Return what is stored; ``None`` if nothing is, or if it cannot be read."""
        try:
            data = zlib.decompress(self._path(key).read_bytes())
            return _converter().loads(data, TracedFile)
        except (OSError, zlib.error, ValueError, KeyError, TypeError, BaseValidationError):
            return None

    def put(self, key: str, traced: TracedFile) -> None:
        """Store a result, in one step."""
        atomic_write_bytes(self._path(key), zlib.compress(_converter().dumps(traced), 6))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json.z"
