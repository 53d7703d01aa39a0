"""Cache of traced files by content, so that unchanged files are not elaborated again.

A file's key hashes what its result depends on: its text and path, the texts of all project files
that it imports, the engine with its version, for the project's own Lean also the lakefile, Lean's
options and the locked dependencies, and the code that reads the results. So a second trace only
reads the cache, a killed one resumes, and a change retraces exactly the files that depend on it. A
file whose imports were not built, and so were elaborated in memory without their package's options,
is not cached.
"""

import zlib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

import attrs
from cattrs import BaseValidationError
from cattrs.preconf.orjson import make_converter

from lean_dojo_v2.files import atomic_write_bytes, cache_dir
from lean_dojo_v2.tracing.project.workspace import SourceFile
from lean_dojo_v2.tracing.reading.records import TracedFile

_READERS = ("tracing", "lean/text", "lean/program")
"""Folders of this package whose code determines what is extracted from a file."""


@cache
def readers_digest() -> str:
    """Hash the code that reads Lean's answers, which determines the results."""
    top = Path(__file__).parent.parent
    files = sorted(file for folder in _READERS for file in (top / folder).rglob("*.*"))
    read = (file.read_bytes() for file in files if file.suffix in {".py", ".lean"})
    return sha256(b"\0".join(read)).hexdigest()


_CONVERTER = make_converter()


@attrs.frozen
class TraceCache:
    """Results on disk, below ``raid/cache/trace``, of an engine and the state of all else."""

    engine: str
    state: str = ""

    def key(self, file: SourceFile, closure: Iterable[SourceFile], imports: Iterable[str]) -> str:
        """Return the key of a file's result.

        The ``closure`` is all project files that it imports; ``imports`` are paths of direct ones.
        """
        digest = sha256()
        for part in (readers_digest(), self.engine, self.state, *imports, ""):
            digest.update(f"{part}\0".encode())
        for source in (*closure, file):
            content = sha256(source.text.encode()).hexdigest()
            digest.update(f"{source.module}\0{source.path}\0{content}\0".encode())
        return digest.hexdigest()

    def get(self, key: str) -> TracedFile | None:
        """Return a stored result; ``None`` if missing or unreadable."""
        try:
            data = zlib.decompress(self._path(key).read_bytes())
            return _CONVERTER.loads(data, TracedFile)
        except (OSError, zlib.error, ValueError, KeyError, TypeError, BaseValidationError):
            return None

    def put(self, key: str, traced: TracedFile) -> None:
        """Store a result atomically."""
        atomic_write_bytes(self._path(key), zlib.compress(_CONVERTER.dumps(traced), 6))

    def _path(self, key: str) -> Path:
        return cache_dir() / "trace" / key[:2] / f"{key[2:]}.json.z"
