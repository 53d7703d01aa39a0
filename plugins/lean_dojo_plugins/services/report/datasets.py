"""Data of a run: its repositories and counts, from the metadata of its datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from lean_dojo_v2.runs.files import COPY, METADATA, read_json


@attrs.frozen
class RepositoryData:
    """A repository of a dataset, with the Lean version and the engine that traced it."""

    name: str
    url: str
    commit: str
    lean: str
    engine: str


@attrs.frozen
class Dataset:
    """A dataset.

    Attributes:
        name: Its folder, relative to the output folder.
        repositories: Its repositories, in the order of the export.
        totals: Counts from its metadata: theorems, premises, files.
    """

    name: str
    repositories: tuple[RepositoryData, ...]
    totals: Mapping[str, int]


def datasets(folder: Path) -> list[Dataset]:
    """Find the datasets in an output folder, and the trainers' copies of their metadata.

    Raises:
        DataError: If a file cannot be read.
    """
    exported = [one for one in sorted(folder.rglob(METADATA)) if (one.parent / "random").is_dir()]
    found: dict[frozenset[tuple[str, str]], Dataset] = {}
    for file in [*exported, *sorted(folder.rglob(COPY))]:
        data = read_json(file)
        if not isinstance(data, dict) or not isinstance(data.get("repositories"), list):
            continue  # another program's file of that name
        repositories = tuple(
            RepositoryData(
                name=str(item.get("name") or item.get("url", "")),
                url=str(item.get("url", "")),
                commit=str(item.get("commit", "")),
                lean=str(item.get("lean_version") or ""),
                engine=str((item.get("metadata") or {}).get("engine") or ""),
            )
            for item in data["repositories"]
        )
        name = str(file.parent.relative_to(folder)) if file.parent != folder else folder.name
        totals = {k: v for k, v in data.items() if isinstance(v, int)}
        contents = frozenset((one.url, one.commit) for one in repositories)
        found.setdefault(contents, Dataset(name, repositories, totals))
    return list(found.values())
