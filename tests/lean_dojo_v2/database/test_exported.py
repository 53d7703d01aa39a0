"""Reading exported splits and corpora: our own line by line, everybody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_core.errors import DataError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.codec import exported_theorem
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.database.export.read import read_corpus, read_theorems
from lean_dojo_v2.database.export.splits import split_of


@pytest.fixture
def items(theorem: Callable[..., Theorem]) -> list[dict[str, Any]]:
    return [exported_theorem(theorem(f"t{n}", "a\n  b", "simp")) for n in range(5)]


LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "ours": lambda items: (
        "[\n" + ",\n".join(json.dumps(i, ensure_ascii=False) for i in items) + "\n]\n"
    ),
    "one line": json.dumps,
    "indented by 1.x": lambda items: json.dumps(items, indent=2),
    "indented by 4, bom": lambda items: json.dumps(items, indent=4, ensure_ascii=False),
    "lines, then indented": lambda items: (
        "[\n"
        + ",\n".join([json.dumps(items[0]), *(json.dumps(i, indent=1) for i in items[1:])])
        + "]"
    ),
    "windows": lambda items: "[\r\n" + ",\r\n".join(map(json.dumps, items)) + "\r\n]\r\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, items: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "train.json"
    file.write_text(LAYOUTS[layout](items), encoding="utf-8", newline="")
    read = list(read_theorems(file))
    assert [theorem.full_name for theorem in read] == ["t0", "t1", "t2", "t3", "t4"]
    assert [json.loads(json.dumps(exported_theorem(theorem))) for theorem in read] == json.loads(
        json.dumps(items)
    )
    assert all(split_of(theorem) in {"train", "val", "test"} for theorem in read)


@pytest.mark.parametrize("text", ["[]", "[\n]\n", "[ ]\n\n"])
def test_an_empty_split(text: str, tmp_path: Path) -> None:
    (tmp_path / "val.json").write_text(text)
    assert list(read_theorems(str(tmp_path / "val.json"))) == []


@pytest.mark.parametrize("layout", ["ours", "one line", "indented by 1.x"])
def test_a_file_that_was_cut_off_anywhere(
    layout: str, items: list[dict[str, Any]], tmp_path: Path
) -> None:
    text = LAYOUTS[layout](items).rstrip().encode()
    file = tmp_path / "train.json"
    for size in range(0, len(text), 37):
        file.write_bytes(text[:size])
        with pytest.raises(DataError, match=r"train\.json.*(line|byte) \d+"):
            list(read_theorems(file))
        assert file.read_bytes() == text[:size]


def test_a_wrong_theorem_is_named(items: list[dict[str, Any]], tmp_path: Path) -> None:
    items[3]["traced_tactics"][1]["state_before"] = None
    file = tmp_path / "train.json"
    file.write_text(LAYOUTS["ours"](items))
    with pytest.raises(DataError, match=r"\[3\]\.traced_tactics\[1\]\.state_before: not a string"):
        list(read_theorems(file))


@pytest.mark.parametrize("text", ["{}", "3", '{"repositories": []}', "[\n3\n]\n", "[[]]"])
def test_what_is_no_list_of_theorems(text: str, tmp_path: Path) -> None:
    file = tmp_path / "train.json"
    file.write_text(text)
    with pytest.raises(DataError, match="not a"):
        list(read_theorems(file))


def test_a_missing_file(tmp_path: Path) -> None:
    for read in (read_theorems, read_corpus):
        with pytest.raises(DataError, match="nowhere"):
            list(read(tmp_path / "nowhere"))


def test_a_corpus(repository: Callable[..., Repository], tmp_path: Path) -> None:
    with DynamicDatabase(tmp_path / "db.json") as database:
        database.export_merged_data([repository(1)], tmp_path)
    assert list(read_corpus(tmp_path / "corpus.jsonl")) == repository(1).premise_files[::-1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"path": ', "line 3, column"),
        ("3", "line 3: not an object"),
        ("{}", "line 3: the key 'path'"),
    ],
)
def test_a_bad_line_of_a_corpus_is_numbered(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text('{"path": "A.lean", "imports": [], "premises": []}\n\n' + line)
    with pytest.raises(DataError, match=message):
        list(read_corpus(file))
