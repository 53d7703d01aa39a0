"""``lean-dojo database``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.benchmarks.core_library.benchmark import Module
from lean_dojo_v2.benchmarks.database import training_theorems
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import DynamicDatabase, Repository, split_of
from lean_dojo_v2.sample import SAMPLE_URLS


@pytest.fixture
def file(path: Path, repository: Callable[..., Repository]) -> Path:
    with DynamicDatabase(path) as database:
        for number in (1, 2):
            database.add_repository(repository(number))
    return path


def test_show(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["database", "show", "--database", str(file)]) == 0
    assert "owner1/repo1" in capsys.readouterr().out
    assert main(["database", "show", "--database", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["repositories"]
    assert [(one["name"], one["total_theorems"], one["num_premises"]) for one in shown] == [
        ("owner1/repo1", 12, 5),
        ("owner2/repo2", 12, 5),
    ]


@pytest.mark.parametrize("suffix", ["json", "sqlite", "db"])
def test_import_converts_both_ways(file: Path, tmp_path: Path, suffix: str) -> None:
    copy = tmp_path / f"copy.{suffix}"
    for _ in range(2):
        assert main(["database", "import", str(file), str(copy)]) == 0
        assert DynamicDatabase(copy).to_dict() == DynamicDatabase(file).to_dict()


def test_import_of_what_comes_with_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sample").mkdir()  # a folder of that name is no database
    mine = tmp_path / "mine.json"
    for source in ("sample", "shipped"):
        assert main(["database", "import", source, str(mine)]) == 0
    *others, library = DynamicDatabase(mine).repositories
    assert [one.url for one in others] == list(SAMPLE_URLS.values())
    assert len(library.proven_theorems) > 300
    assert {split_of(one) for one in library.proven_theorems} == {"train"}
    assert not list(training_theorems([library]))  # a statement would be a problem of a project
    for one in library.proven_theorems:
        module = re.sub(r"\d*\.lean$", "", one.file_path).replace("/", ".")
        assert not Module(module, (), ()).is_held_out


def test_export(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "merged"
    command = ["database", "export", "--database", str(file), str(out)]
    assert main([*command, "--repo", "owner2/repo2"]) == 0
    assert json.loads((out / "metadata.json").read_text())["total_theorems"] == 12
    assert main(command) == 0
    assert json.loads((out / "metadata.json").read_text())["total_theorems"] == 24
    assert main([*command, "--repo", "owner2/repo3"]) == 2
    assert "owner2/repo2" in capsys.readouterr().err


def test_mistakes_are_one_message_and_code_2(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.json")
    for command in (
        ["show", "--database", missing],
        ["import", missing, str(tmp_path / "x.json")],
        ["import", str(file), str(file)],
        ["export", "--database", missing, str(tmp_path / "out")],
    ):
        assert main(["database", *command]) == 2
        assert "Traceback" not in capsys.readouterr().err
    assert not Path(missing).exists()


def test_a_damaged_database_is_code_2_with_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "db.json").write_text('{"repositories": [\n{"url": ')
    assert main(["database", "show", "--database", str(tmp_path / "db.json")]) == 2
    assert "line 2" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "hf"])
def test_export_of_tactics_for_other_tools(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    from pyarrow import parquet

    out = tmp_path / "table"
    command = ["database", "export", "--database", str(file), "--format", kind, str(out), "--json"]
    assert main(command) == 0
    counts = json.loads(capsys.readouterr().out)["rows"]
    assert sum(counts.values()) > 0
    for split, count in counts.items():
        if kind == "jsonl":
            rows = [json.loads(line) for line in (out / f"{split}.jsonl").read_text().splitlines()]
        else:
            folder = out / "data" if kind == "hf" else out
            rows = parquet.read_table(folder / f"{split}.parquet").to_pylist()
        assert len(rows) == count
        for row in rows:
            assert row["tactic"]
            assert "<a>" not in row["tactic"] + row["state_before"]
            assert isinstance(row["premises"], list)
    if kind == "hf":
        card = (out / "README.md").read_text()
        assert "  - split: validation\n    path: data/val.parquet\n" in card


def test_browse(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["database", "browse", "--database", str(file)]
    assert main([*command, "--limit", "2"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "▸ " in shown.out
    assert main([*command, "--json", "--sorry"]) == 0
    left = json.loads(capsys.readouterr().out)
    assert left
    assert all(one["split"] in {"train", "val", "test"} for one in left)
    assert main([*command, "no such word"]) == 0
    assert capsys.readouterr().err == "no theorem contains all of these words\n"
