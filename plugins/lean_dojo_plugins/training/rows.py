"""Rows of a training dataset on disk.

Rows are streamed into an Arrow file and opened as a dataset, in bounded memory.
`Dataset.from_generator` caches by the generator's code, not by its rows, and provides no digest of
the rows, by which a resumed run recognises its data.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import datasets
import pyarrow as pa  # type: ignore[import-untyped]

from lean_dojo_core.errors import DataError
from lean_dojo_plugins.training.data import CHUNK_SIZE, chunks
from lean_dojo_v2.files import atomic_writer


@attrs.frozen
class Written:
    """A written file: its number of rows, and the SHA-256 of their content in this order."""

    rows: int
    digest: str


def write_rows(rows: Iterable[dict[str, Any]], path: Path) -> Written:
    """Write rows, flat or nested but all with the same keys, to an Arrow file, atomically.

    DataError if a column changes its type from one row to another.
    """
    count = 0
    schema: pa.Schema | None = None
    with atomic_writer(path) as stream:
        writer: Any = None
        for chunk in chunks(rows, CHUNK_SIZE):
            try:
                if schema is None:
                    inferred = pa.Table.from_pylist(chunk).schema
                    schema = pa.schema([one.with_type(_concrete(one.type)) for one in inferred])
                    writer = pa.ipc.new_stream(stream, schema)
                writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise DataError(
                    f"the formatter's rows do not have one type per column: {error}",
                    place=f"rows {count}-{count + len(chunk)}",
                ) from error
            count += len(chunk)
        if writer is not None:
            writer.close()
    with path.open("rb") as written:
        return Written(count, hashlib.file_digest(written, "sha256").hexdigest())


def open_rows(path: Path) -> datasets.Dataset:
    """Open a file of :func:`write_rows` without reading it into memory."""
    return datasets.Dataset.from_file(str(path))


def _concrete(kind: Any) -> Any:
    """Type a column as text that was empty in the first rows (``None``, ``[]``)."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_concrete(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_concrete(field.type)) for field in kind])
    return kind
