"""From exported theorems to the rows that a formatter makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lean_dojo_core import DatasetFormatter
from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.database.export.read import read_theorems

SPLITS = ("train", "val", "test")


def split_file(data_path: Path | str, split: str = "train") -> Path:
    """Find the file of a split (of the ``random`` split strategy).

    Args:
        data_path: Folder of merged data, or the split's file itself.
        split: ``"train"``, ``"val"`` or ``"test"``; ignored for a file.

    Raises:
        UsageError: If there is no such split.
        DataError: If the file is not there.
    """
    if split not in SPLITS:
        raise UsageError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    path = Path(data_path)
    if path.is_dir():
        inside = path / "random" / f"{split}.json"
        path = (
            inside
            if inside.exists() or not (path / f"{split}.json").exists()
            else path / f"{split}.json"
        )
    if not path.is_file():
        raise DataError("there is no such file; export the database to it first", path=path)
    return path


def formatted_rows(file: Path, formatter: DatasetFormatter) -> Iterator[dict[str, Any]]:
    """Stream the rows that a formatter makes from a split's theorems, in the file's order."""
    for theorem in read_theorems(file):
        yield from formatter.rows(theorem)


def repository_name(repository: Any) -> str:
    """Return ``owner-repo`` of a repository's address, with nothing that a file name may not have.

    >>> from types import SimpleNamespace
    >>> repository_name(SimpleNamespace(url="https://github.com/leanprover/std4.git", commit="c"))
    'leanprover-std4'
    """
    parts = re.split(r"[/\\:]+", str(repository.url).removesuffix(".git").rstrip("/"))
    return re.sub(r"[^\w.-]+", "_", "-".join(parts[-2:])).strip("-.") or "repository"
