"""Read exported data as a stream: splits (``random/train.json``, …) and ``corpus.jsonl``.

Our split files have one theorem per line inside a JSON list, so they are read in constant memory.
Other files (LeanDojo-v2 1.x indents them) are parsed whole.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_core import DataError, PremiseFile, Theorem
from lean_dojo_v2.data import MalformedError, premise_file_from_dict, theorem_from_dict
from lean_dojo_v2.files import read_json


def read_theorems(path: str | Path) -> Iterator[Theorem]:
    """Yield the theorems of a split file, such as ``raid/data/merged/random/train.json``.

    It may be one of this version, of LeanDojo-v2 1.x, or of LeanDojo 1.x. If it is missing,
    truncated or malformed, a ``DataError`` names the file and the line or the key path.
    """
    file = Path(path)
    for number, item in enumerate(_items(file)):
        try:
            theorem = theorem_from_dict(item)
        except MalformedError as error:
            inner = error.inside(f"[{number}]")
            raise DataError(inner.message, path=file, place=inner.place) from error
        yield theorem


def read_corpus(path: str | Path) -> Iterator[PremiseFile]:
    """Yield the files of a ``corpus.jsonl`` one after the other.

    If it is missing, truncated or not a corpus, a ``DataError`` names the file and the line.
    """
    file = Path(path)
    with _opened(file) as stream:
        for number, line in enumerate(stream, 1):
            if line.isspace():
                continue
            try:
                yield premise_file_from_dict(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                place = f"line {number}, column {error.colno}"
                raise DataError(f"not JSON: {error.msg}", path=file, place=place) from error
            except MalformedError as error:
                place = ": ".join(part for part in (f"line {number}", error.place) if part)
                raise DataError(error.message, path=file, place=place) from error


def _items(file: Path) -> Iterator[Any]:
    """Yield the items of the file's list, line by line if possible."""
    done = 0
    with _opened(file) as stream:
        if stream.readline().strip() == b"[":
            for line in stream:
                text = line.strip()
                try:
                    item = orjson.loads(text.removesuffix(b","))
                except orjson.JSONDecodeError:
                    if text == b"]" and not stream.read(1):
                        return
                    break  # not one item per line
                yield item
                done += 1
    items = read_json(file)
    if not isinstance(items, list):
        raise DataError("not a list of theorems; is it one of the exported splits?", path=file)
    yield from items[done:]


def _opened(file: Path) -> Any:
    try:
        return file.open("rb")
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}. DynamicDatabase.export_merged_data writes it",
            path=file,
        ) from error
