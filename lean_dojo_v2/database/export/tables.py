"""The traced tactics as a table for other tools: JSON lines, Parquet, a Hugging Face data set."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lean_dojo_core.records import remove_marks
from lean_dojo_v2.data import Repository
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.database.export.splits import SPLITS
from lean_dojo_v2.database.export.write import export_merged_data
from lean_dojo_v2.files import atomic_write_text, atomic_writer, write_lines

Format: TypeAlias = Literal["jsonl", "parquet", "hf"]
COLUMNS = (
    "url", "commit", "file_path", "full_name", "statement", "step", "state_before", "tactic",
    "state_after", "premises",
)  # fmt: skip
"""Columns of a row: one tactic of a proof, with its goals and premises."""

_BATCH = 5_000


def export_tables(
    repositories: Sequence[Repository], folder: Path, format_: Format
) -> dict[str, int]:
    """Write the tactics of traced theorems, one file per split; return each one's number of rows.

    The splits are those of training (strategy ``random``): ``val`` and ``test`` are held out. The
    repositories are in curriculum order, and the folder is made if it is missing. The format
    ``"hf"`` is Parquet in ``data/`` and a ``README.md`` by which ``datasets.load_dataset(folder)``
    and the hub know the splits.
    """
    write = write_lines if format_ == "jsonl" else _write_parquet
    ending = "jsonl" if format_ == "jsonl" else "parquet"
    place = folder / "data" if format_ == "hf" else folder
    with tempfile.TemporaryDirectory() as made:
        export_merged_data(repositories, made)
        random = Path(made) / "random"
        counts: dict[str, int] = {
            split: write(place / f"{split}.{ending}", _rows(random / f"{split}.json"))
            for split in SPLITS
        }
    if format_ == "hf":
        atomic_write_text(folder / "README.md", _card(repositories, counts))
    return counts


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    for theorem in read_theorems(file):
        for step, traced in enumerate(theorem.traced_tactics):
            yield {
                "url": theorem.url,
                "commit": theorem.commit,
                "file_path": theorem.file_path,
                "full_name": theorem.full_name,
                "statement": theorem.theorem_statement,
                "step": step,
                "state_before": remove_marks(traced.state_before),
                "tactic": remove_marks(traced.tactic),
                "state_after": remove_marks(traced.state_after),
                "premises": [premise.full_name for premise in traced.premises],
            }


def _write_parquet(file: Path, rows: Iterator[dict[str, Any]]) -> int:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

    kinds: dict[str, Any] = {"step": pa.int32(), "premises": pa.list_(pa.string())}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    count = 0
    with atomic_writer(file) as stream, parquet.ParquetWriter(stream, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _card(repositories: Sequence[Repository], counts: dict[str, int]) -> str:
    names = {"train": "train", "val": "validation", "test": "test"}
    lines = ["---", "tags: [lean4, theorem-proving, lean-dojo]"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split in counts:
        lines += [f"  - split: {names[split]}", f"    path: data/{split}.parquet"]
    lines += ["---", "", "# Traced Lean 4 tactics", "", f"Columns: {', '.join(COLUMNS)}.", ""]
    lines += ["| split | tactics |", "| --- | ---: |"]
    lines += [f"| {names[split]} | {count} |" for split, count in counts.items()]
    lines += ["", "| repository | commit |", "| --- | --- |"]
    lines += [f"| {one.url} | `{one.commit[:12]}` |" for one in repositories]
    return "\n".join([*lines, ""])
