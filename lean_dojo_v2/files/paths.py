"""Folders of working data: ``RAID_DIR`` and the documented folders below it; files of a run.

The environment variable ``RAID_DIR`` (default ``./raid``) is read on each call, so a program or a
test may set it at any time.
"""

import os
from pathlib import Path

from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.files.atomic import atomic_write_bytes

RAID_VARIABLE = "RAID_DIR"
"""Environment variable that names the root of all working data."""
CACHE_VARIABLE = "LEAN_DOJO_CACHE"
"""Environment variable that names the user's cache folder."""
STATE_FILE = "training_state.json"
"""File with the finished repositories and settings of a run."""
METADATA_FILE = "metadata.json"
"""File with an export's metadata."""
COPY_FILE = "data.json"
"""A trainer's copy of the metadata, in its output folder."""


def raid_dir() -> Path:
    """Return the root of all working data: ``$RAID_DIR``, or ``raid`` in the current folder."""
    return Path(os.environ.get(RAID_VARIABLE) or "raid")


def data_dir() -> Path:
    """Return the folder of exported datasets, ``raid/data``."""
    return raid_dir() / "data"


def merged_data_dir() -> Path:
    """Return the folder that ``export_merged_data`` writes to by default, ``raid/data/merged``."""
    return data_dir() / "merged"


def checkpoint_dir() -> Path:
    """Return the folder of retriever checkpoints, ``raid/checkpoints``."""
    return raid_dir() / "checkpoints"


def log_dir() -> Path:
    """Return the folder of training logs (TensorBoard), ``raid/logs``."""
    return raid_dir() / "logs"


def cache_dir() -> Path:
    """Return the folder of caches that may be deleted at any time, ``raid/cache``."""
    return raid_dir() / "cache"


def user_cache() -> Path:
    """Return the user's cache folder for all projects; ``$LEAN_DOJO_CACHE`` overrides it."""
    from platformdirs import user_cache_dir

    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(user_cache_dir("lean-dojo"))


def repos_dir() -> Path:
    """Return the folder of cloned repositories and their checkouts, ``raid/repos``."""
    return raid_dir() / "repos"


def read_named(file: Path) -> bytes:
    """Read a file that the user named; an ``UnreadableFileError`` says why it cannot be read."""
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise UnreadableFileError("there is no such file", path=file) from error
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror}", path=file) from error


def copy_metadata(data_path: Path, folder: Path) -> None:
    """Copy a dataset's metadata, if any, to the run that learns from it."""
    file = data_path / METADATA_FILE
    if file.is_file():
        atomic_write_bytes(folder / COPY_FILE, file.read_bytes())


def safe_name(name: str) -> str:
    """Turn a repository's name or address into one folder's name.

    >>> safe_name("https://github.com/leanprover-community/mathlib4.git")
    'leanprover-community_mathlib4'
    >>> safe_name("../../etc")
    'etc'
    """
    short = name.rstrip("/").removesuffix(".git").split("://")[-1]
    parts = [part for part in short.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    kept = "_".join(parts[-2:])
    clean = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in kept)
    return clean.strip("._") or "repository"
