"""The files of a run by name, read also while the run writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_v2.atomic import atomic_write_bytes

STATE_FILE = "training_state.json"
"""Which repositories a run has finished, with which settings."""
METADATA = "metadata.json"
"""What an export says of its data."""
COPY = "data.json"
"""What trainers copy the metadata of their data to, in their output folder."""


def read_json(file: Path) -> Any:
    """Read a JSON file.

    Raises:
        DataError: If it cannot be read, or is not JSON.
    """
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", path=file) from error


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Read a JSONL file, where there is one; a half-written line is passed over."""
    if not file.exists():
        return
    # By bytes: a line may end inside a character, and text has further ends of lines inside JSON.
    for line in file.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def append_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add lines to a JSONL file, which may be new, and force them to disk."""
    content = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    with file.open("ab+") as stream:
        if end := stream.seek(0, os.SEEK_END):
            stream.seek(end - 1)
            if stream.read() != b"\n":  # a machine that went down left half a line
                content = b"\n" + content
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def copy_metadata(data_path: Path, folder: Path) -> None:
    """Keep a dataset's metadata with the run that learns from it, where the dataset has any."""
    file = data_path / METADATA
    if file.is_file():
        atomic_write_bytes(folder / COPY, file.read_bytes())
