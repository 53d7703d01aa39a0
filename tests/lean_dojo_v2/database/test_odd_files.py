"""Files that are no good: one message, code 2, and nothing written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.cli import main
from lean_dojo_v2.database import DynamicDatabase, Repository, sqlite_file
from lean_dojo_v2.errors import DatabaseError

DEEP = "[" * 100_000
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def negative(data: dict) -> str:
    data["repositories"][0]["proven_theorems"][0]["start"] = [-1, 5]
    return json.dumps(data)


def twice(data: dict) -> str:
    text = json.dumps(data)
    return text.replace('{"repositories": [', '{"repositories": [], "repositories": [', 1)


BAD = {
    "deep": (lambda _: '{"repositories": ' + DEEP, "nested too deeply"),
    "negative": (negative, "proven_theorems[0].start"),
    "twice": (twice, "'repositories' occurs twice"),
    "many digits": (lambda _: '{"repositories": ' + "9" * 5000 + "}", "left as it is"),
}


@pytest.mark.parametrize("which", BAD)
def test_a_bad_json_file_is_one_message(
    which: str,
    repository: Callable[..., Repository],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write, said = BAD[which]
    file = tmp_path / "db.json"
    file.write_text(write({"repositories": [repository(1).to_dict()]}))
    before = file.read_bytes()
    assert main(["database", "show", "--database", str(file)]) == 2
    [message] = capsys.readouterr().err.splitlines()
    assert message.startswith(f"Error: {file}")
    assert said in message
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["db.json", "db.sqlite"])
def test_showing_writes_to_no_file(
    name: str, repository: Callable[..., Repository], tmp_path: Path
) -> None:
    file = tmp_path / name
    with DynamicDatabase(file) as database:
        database.add_repository(repository(1))
    (tmp_path / f"{name}.lock").unlink(missing_ok=True)
    before = {one: one.stat().st_mtime_ns for one in (tmp_path, *tmp_path.iterdir())}
    assert main(["database", "show", "--database", str(file)]) == 0
    assert {one: one.stat().st_mtime_ns for one in (tmp_path, *tmp_path.iterdir())} == before
    with DynamicDatabase(file, read_only=True) as shown, pytest.raises(DatabaseError):
        shown.add_repository(repository(2))


@pytest.mark.parametrize("name", ["none.json", "none.sqlite"])
def test_what_is_only_read_is_not_made(name: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no such file"):
        DynamicDatabase(tmp_path / name, read_only=True)
    assert not list(tmp_path.iterdir())


def test_waiting_for_another_writer_is_said_and_ends(
    repository: Callable[..., Repository],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sqlite_file.locking, "PATIENCE", 0.5)
    file = tmp_path / "db.sqlite"
    with DynamicDatabase(file) as database:
        database.add_repository(repository(1))
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseError, match="another process has been writing") as caught:
            database.add_repository(repository(2))
        assert caught.value.exit_code == 2
        assert "another process is using it" in capsys.readouterr().err
        holder.communicate(b"")
        database.add_repository(repository(2))
        assert len(database.repositories) == 2


def test_a_damaged_sqlite_file_is_code_2(
    repository: Callable[..., Repository], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "db.sqlite"
    with DynamicDatabase(file) as database:
        database.add_repository(repository(1))
    data = bytearray(file.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    file.write_bytes(bytes(data))
    assert main(["database", "show", "--database", str(file)]) == 2
    [message] = capsys.readouterr().err.splitlines()
    assert message.startswith(f"Error: {file}: damaged: ")
    assert file.read_bytes() == bytes(data)
