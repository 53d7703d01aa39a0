"""Users' JSON, parsed strictly: no duplicate keys, limited nesting; JSONL, also while written.

Python's parser recurses without limit and silently takes the last of equal keys.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

try:
    import fcntl
except ImportError:  # on Windows, where a write is atomic
    fcntl = None  # type: ignore[assignment]

from lean_dojo_core.errors import DataError
from lean_dojo_v2.files.atomic import atomic_writer

_log = logging.getLogger(__name__)
RecordT = TypeVar("RecordT")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_AS_IT_IS = ". The file is left as it is"


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; ``NaN`` and ``Infinity``, which Python writes, are accepted.

    Raises:
        ValueError: If it is not JSON (a ``json.JSONDecodeError``, which knows the place), not
            Unicode, has a key twice, or is nested too deeply.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice in one object
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path, error: type[DataError] = DataError) -> Any:
    """Parse a JSON file; what cannot be read is an ``error`` that names the file and the line."""
    try:
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3\0"):
            raise error("an SQLite database; give it the suffix .sqlite", path=path)
        found = parse_json(data)
        if _SURROGATE.search(data):  # perhaps a lone one
            orjson.dumps(found)  # what cannot be stored again is refused
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", path=path) from problem
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno} (character {problem.pos})"
        message = f"not JSON, or cut off: {problem.msg}{_AS_IT_IS}; restore it from a copy"
        raise error(message, path=path, place=place) from problem
    except UnicodeDecodeError as problem:
        place = f"byte {problem.start}"
        raise error(f"not UTF-8{_AS_IT_IS}", path=path, place=place) from problem
    except (ValueError, orjson.JSONEncodeError) as problem:
        raise error(f"cannot be read: {problem}{_AS_IT_IS}", path=path) from problem
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.80} occurs twice in one object")
    return found


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Read a JSONL file, if it exists; an incomplete line is skipped."""
    if not file.exists():
        return
    # As bytes: a line may end inside a character, and text has further line separators inside JSON.
    for line in file.read_bytes().split(b"\n"):
        try:
            row = parse_json(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def read_records(file: Path, make: Callable[..., RecordT], what: str) -> Iterator[RecordT]:
    """Read a JSONL file, if it exists, as records; an incomplete line is skipped with a warning.

    The keys of a line are the parameters of ``make``. A ``DataError`` says that a line is not
    ``what`` it should be.
    """
    if not file.is_file():
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield make(**orjson.loads(line))
            except orjson.JSONDecodeError:
                _log.warning("%s, line %d: skipped, because it is incomplete", file, number)
            except (TypeError, ValueError) as error:
                problem = str(error).rpartition("() ")[2]  # without the constructor's name
                place = f"line {number}"
                raise DataError(f"is not {what}: {problem}", path=file, place=place) from error


def write_lines(file: Path | str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as a JSONL file in one step, and return their number."""
    count = 0
    with atomic_writer(file) as stream:
        for row in rows:
            stream.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count


def append_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a JSONL file and force them to disk; folder and file are created if needed.

    Processes take turns, even on shared file systems, so that lines are never mixed or
    overwritten.
    """
    content = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    if not content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # until it is closed
        if end := os.lseek(descriptor, 0, os.SEEK_END):
            os.lseek(descriptor, end - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":  # a crash left an incomplete line
                content = b"\n" + content
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
