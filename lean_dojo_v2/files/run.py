"""Names of the files of a run, and of the data that it learned from."""

from __future__ import annotations

from pathlib import Path

from lean_dojo_v2.files.atomic import atomic_write_bytes

STATE_FILE = "training_state.json"
"""File with the finished repositories and settings of a run."""
METADATA_FILE = "metadata.json"
"""File with an export's metadata."""
COPY_FILE = "data.json"
"""A trainer's copy of the metadata, in its output folder."""


def copy_metadata(data_path: Path, folder: Path) -> None:
    """Copy a dataset's metadata, if any, to the run that learns from it."""
    file = data_path / METADATA_FILE
    if file.is_file():
        atomic_write_bytes(folder / COPY_FILE, file.read_bytes())
