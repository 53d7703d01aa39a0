"""Damaged files: an error that names file and place, and the file as it was."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.errors import DatabaseError


@pytest.fixture
def file(path: Path, repository: Callable[..., Repository]) -> Path:
    with DynamicDatabase(path) as database:
        database.add_repository(repository(1))
        database.add_repository(repository(2))
    return path


def read_all(path: Path) -> None:
    with DynamicDatabase(path) as database:
        database.to_dict()


def test_a_file_cut_off_anywhere(file: Path) -> None:
    whole = file.read_bytes().rstrip()
    for size in range(1, len(whole), len(whole) // 60):
        file.write_bytes(whole[:size])
        with pytest.raises(DatabaseError, match="left as it is") as caught:
            read_all(file)
        assert caught.value.path == file
        assert caught.value.place or file.suffix == ".sqlite"
        assert file.read_bytes() == whole[:size]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"hello", b"{", b"\x00" * 5000, b" \n"])
def test_a_file_of_something_else(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match=str(path.name)):
        read_all(path)
    assert path.read_bytes() == content


def test_the_wrong_suffix(file: Path) -> None:
    wrong = file.with_suffix(".json" if file.suffix == ".sqlite" else ".sqlite")
    shutil.copy(file, wrong)
    with pytest.raises(DatabaseError, match="SQLite"):
        read_all(wrong)


# --- JSON --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda data: data.clear(), ""),
        (lambda data: data.update(repositories={}), ""),
        (lambda data: data["repositories"].append(3), "repositories[2]"),
        (lambda data: data["repositories"][1].pop("url"), "repositories[1]"),
        (
            lambda data: data["repositories"][1]["metadata"].update(date_processed="yesterday"),
            "repositories[1].metadata.date_processed",
        ),
        (
            lambda data: data["repositories"][0]["proven_theorems"][2].update(start="1"),
            "repositories[0].proven_theorems[2].start",
        ),
        (
            lambda data: data["repositories"][0]["proven_theorems"][0]["traced_tactics"].insert(
                0, 5
            ),
            "repositories[0].proven_theorems[0].traced_tactics[0]",
        ),
        (
            lambda data: data["repositories"][0]["premise_files"][1]["premises"][0].pop(
                "full_name"
            ),
            "repositories[0].premise_files[1].premises[0]",
        ),
        (
            lambda data: data["repositories"][0]["files_traced"].append(None),
            "repositories[0].files_traced[3]",
        ),
    ],
)
def test_wrong_content_is_named_by_its_key_path(
    repository: Callable[..., Repository],
    tmp_path: Path,
    change: Callable[[dict], object],
    place: str,
) -> None:
    data = {"repositories": [repository(1).to_dict(), repository(2).to_dict()]}
    change(data)
    file = tmp_path / "db.json"
    file.write_text(json.dumps(data))
    with pytest.raises(DatabaseError) as caught:
        DynamicDatabase(file)
    assert caught.value.place == place
    assert file.read_text() == json.dumps(data)
    with pytest.raises(DatabaseError):
        DynamicDatabase.from_dict(data)


def test_text_that_cannot_be_stored_is_told(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    data = {"repositories": [repository(1).to_dict()]}
    data["repositories"][0]["url"] = "\ud800"
    file = tmp_path / "db.json"
    file.write_text(json.dumps(data))
    with pytest.raises(DatabaseError, match=r"cannot be|can be stored") as caught:
        DynamicDatabase(file)
    assert caught.value.path == file
    assert file.read_text() == json.dumps(data)


def test_files_of_1x_with_infinity_and_every_form_of_numbers(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    """Python's json writes Infinity and NaN; 1.x rated sorry theorems so."""
    database = DynamicDatabase.from_dict({"repositories": [repository(1).to_dict()]})
    data = database.to_dict()
    data["repositories"][0]["proven_theorems"][0]["difficulty_rating"] = math.nan
    file = tmp_path / "db.json"
    file.write_text(json.dumps(data, indent=2))
    assert "Infinity" in file.read_text()
    assert DynamicDatabase(file).to_dict() == database.to_dict()
    database.to_json(file)
    written = json.loads(file.read_text())
    assert written == database.to_dict()
    assert written["repositories"][0]["sorry_theorems_unproved"][0]["difficulty_rating"] == math.inf


def test_the_schema_of_dynamic_database_json(
    repository: Callable[..., Repository], path: Path, tmp_path: Path
) -> None:
    with DynamicDatabase(path) as database:
        database.add_repository(repository(1))
        database.to_json(tmp_path / "copy.json")
    (written,) = json.loads((tmp_path / "copy.json").read_text())["repositories"]
    assert set(written) == {
        *("url", "name", "commit", "lean_version", "lean_dojo_version", "metadata"),
        *("total_theorems", "num_proven_theorems", "num_sorry_theorems", "num_premise_files"),
        *("num_sorry_theorems_proved", "num_sorry_theorems_unproved", "num_premises"),
        *("num_files_traced", "proven_theorems", "sorry_theorems_proved", "pr_url"),
        *("sorry_theorems_unproved", "premise_files", "files_traced"),
    }
    theorem = written["proven_theorems"][0]
    assert set(theorem) == {
        *("full_name", "theorem_statement", "file_path", "start", "end", "url", "commit"),
        *("traced_tactics", "difficulty_rating"),
    }
    assert theorem["start"] == "(1, 1)"
    assert written["premise_files"][1]["premises"][0]["end"] == "(1, 30)"


# --- SQLite ------------------------------------------------------------------------------------


@pytest.fixture
def sqlite(repository: Callable[..., Repository], tmp_path: Path) -> Path:
    file = tmp_path / "db.sqlite"
    with DynamicDatabase(file) as database:
        database.add_repository(repository(1))
    return file


def test_a_database_of_another_program(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    with pytest.raises(DatabaseError, match="another program"):
        DynamicDatabase(file)
    assert file.read_bytes() == before


def test_a_newer_schema(sqlite: Path) -> None:
    connection = sqlite3.connect(sqlite)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DatabaseError, match="newer version"):
        DynamicDatabase(sqlite)


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        ("UPDATE item SET record = '{\"full_name\":' WHERE id = 2", "proven_theorems[1]"),
        ("UPDATE item SET record = '[]' WHERE id = 2", "proven_theorems[1]"),
        ("UPDATE item SET record = 'x' WHERE list = 4 AND position = 2", "premise_files[2]"),
        ("UPDATE repository SET header = '{'", "header"),
    ],
)
def test_a_damaged_record(sqlite: Path, damage: str, place: str) -> None:
    connection = sqlite3.connect(sqlite)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(DatabaseError) as caught:
        read_all(sqlite)
    assert caught.value.path == sqlite
    assert place in caught.value.place
