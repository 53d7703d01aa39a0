"""JSONL files, readable while a run writes them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

try:
    import fcntl
except ImportError:  # on Windows, where a write is atomic
    fcntl = None  # type: ignore[assignment]

from lean_dojo_core.errors import DataError
from lean_dojo_v2.files.json_text import parse_json

_log = logging.getLogger(__name__)
RecordT = TypeVar("RecordT")


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
