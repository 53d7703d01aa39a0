"""The exported folder: files, schema, de-duplication, order; the same bytes from both formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_core.records import PremiseFile, Theorem, TracedTactic
from lean_dojo_v2.data.imports import dependencies_first
from lean_dojo_v2.database import DynamicDatabase, NotInDatabaseError, Repository
from lean_dojo_v2.errors import DatabaseError

FILES = sorted(
    [f"{s}/{n}.json" for s in ("random", "novel_premises") for n in ("train", "val", "test")]
    + ["corpus.jsonl", "traced_files.jsonl", "metadata.json"]
)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def theorems(folder: Path, strategy: str = "random") -> list[dict[str, Any]]:
    names = ("train", "val", "test")
    return [
        item for n in names for item in json.loads((folder / strategy / f"{n}.json").read_text())
    ]


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def repositories(repository: Callable[..., Repository]) -> list[Repository]:
    return [repository(number, 30) for number in range(3)]


@pytest.fixture
def out(database: DynamicDatabase, repositories: list[Repository], tmp_path: Path) -> Path:
    for repo in repositories:
        database.add_repository(repo)
    database.export_merged_data(repositories, str(tmp_path / "out" / "merged"))
    return tmp_path / "out" / "merged"


def test_every_theorem_once_with_the_documented_keys(
    out: Path, repositories: list[Repository]
) -> None:
    for strategy in ("random", "novel_premises"):
        exported = theorems(out, strategy)
        assert len(exported) == 90
        assert {" ".join(item) for item in exported} == {
            "url commit file_path full_name theorem_statement start end traced_tactics"
        }
    tactics = [tactic for item in exported for tactic in item["traced_tactics"]]
    assert all(tactic["state_before"] != "no goals" for tactic in tactics)
    assert {tuple(tactic) for tactic in tactics} == {
        ("tactic", "annotated_tactic", "state_before", "state_after")
    }
    assert all(isinstance(item["start"], list) and item["start"][0] >= 1 for item in exported)


def test_the_same_bytes_from_both_formats(
    out: Path, repositories: list[Repository], database: DynamicDatabase, tmp_path: Path
) -> None:
    for suffix in ("json", "sqlite"):
        with DynamicDatabase(tmp_path / f"other.{suffix}") as other:
            for repo in repositories:
                other.add_repository(repo)
            for touch in (False, True):
                chosen = other.repositories
                if touch:
                    assert all(repo.get_all_theorems and repo.premise_files for repo in chosen)
                other.export_merged_data(chosen, tmp_path / "again")
                assert contents(tmp_path / "again") == contents(out)
    database.export_merged_data(database.repositories, out)
    assert contents(tmp_path / "again") == contents(out)


def test_the_corpus_has_dependencies_first_and_the_first_repository_wins(
    out: Path, repositories: list[Repository]
) -> None:
    corpus = lines(out / "corpus.jsonl")
    assert [file["path"] for file in corpus] == ["Lib/F0.lean", "Lib/F1.lean", "Lib/F2.lean"]
    assert list(corpus[1]) == ["path", "imports", "premises"]
    assert corpus[1]["imports"] == ["Lib/F0.lean", "Elsewhere.lean"]
    assert list(corpus[1]["premises"][0]) == ["full_name", "code", "start", "end", "kind"]
    assert corpus[1]["premises"][0]["start"] == [1, 1]


def test_the_first_repository_wins_per_path(database: DynamicDatabase, tmp_path: Path) -> None:
    for url, imports in (("a", ("P.lean",)), ("b", ("Q.lean",))):
        database.add_repository(
            Repository(url, "c", premise_files=[PremiseFile("M.lean", imports)])
        )
    database.export_merged_data(database.repositories[::-1], tmp_path)
    assert lines(tmp_path / "corpus.jsonl") == [
        {"path": "M.lean", "imports": ["Q.lean"], "premises": []}
    ]


def test_traced_files_and_metadata(out: Path, repositories: list[Repository]) -> None:
    assert [item["traced_file_path"] for item in lines(out / "traced_files.jsonl")] == [
        *("Lib/F0.lean", "Lib/F1.lean", "Only0.lean", "Only1.lean", "Only2.lean"),
    ]
    metadata = json.loads((out / "metadata.json").read_text())
    assert metadata.pop("repositories") == [
        {
            "url": repo.url,
            "name": repo.name,
            "commit": repo.commit,
            "lean_version": "v4.28.0",
            "lean_dojo_version": repo.lean_dojo_version,
            "metadata": {"date_processed": "2026-01-01T00:00:00"},
        }
        for repo in repositories
    ]
    assert metadata == {
        "total_theorems": 90,
        "num_proven_theorems": 69,
        "num_sorry_theorems": 21,
        "num_premise_files": 9,
        "num_premises": 15,
        "num_files_traced": 9,
    }


def test_repositories_may_be_anything_with_url_and_commit(
    database: DynamicDatabase, repositories: list[Repository], tmp_path: Path
) -> None:
    @attrs.frozen
    class GitRepo:
        url: str
        commit: str

    database.add_repository(repositories[0])
    database.export_merged_data([GitRepo(*repositories[0].key)], tmp_path / "a")
    database.export_merged_data(repositories[:1] * 2, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert len(theorems(tmp_path / "a")) == 30
    with pytest.raises(NotInDatabaseError, match="repo1"):
        database.export_merged_data([GitRepo(*repositories[1].key)], tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_nothing_to_export_gives_valid_empty_files(
    database: DynamicDatabase, tmp_path: Path
) -> None:
    database.export_merged_data([], tmp_path / "out")
    assert sorted(contents(tmp_path / "out")) == FILES
    assert theorems(tmp_path / "out") == []


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_records_the_newest_is_exported(
    database: DynamicDatabase, theorem: Callable[..., Theorem], tmp_path: Path, order: int
) -> None:
    dates = {"old": "2025-01-01", "new": "2026-01-01T10:00:00+01:00", "middle": "2025-06-01"}
    for commit, date in dates.items():
        database.add_repository(
            Repository(
                "https://github.com/somebody/library",
                commit,
                metadata={"date_processed": date},
                proven_theorems=[
                    theorem("same", f"by_{commit}", commit=commit),
                    theorem("moved", "x", commit=commit, start=(len(commit), 1)),
                ],
            )
        )
    database.add_repository(
        Repository("elsewhere", "c", proven_theorems=[theorem("same", url="e")])
    )
    database.export_merged_data(database.repositories[::order], tmp_path)
    same = [item for item in theorems(tmp_path) if item["full_name"] == "same"]
    assert sorted(item["commit"] for item in same) == ["c0", "new"]
    # Three commits, two places (old and new are words of equal length), of which the newer one.
    moved = [item["commit"] for item in theorems(tmp_path) if item["full_name"] == "moved"]
    assert sorted(moved) == ["middle", "new"]


def test_a_recorded_proof_is_exported(
    database: DynamicDatabase, repositories: list[Repository], tmp_path: Path
) -> None:
    database.add_repository(repositories[0])
    proven = repositories[0].sorry_theorems_unproved[0]
    database.record_proof(proven, [TracedTactic("decide", "⊢ 1", "no goals")])
    database.export_merged_data(repositories[:1], tmp_path)
    (item,) = [item for item in theorems(tmp_path) if item["full_name"] == proven.full_name]
    assert [tactic["tactic"] for tactic in item["traced_tactics"]] == ["decide"]


def test_a_circle_of_imports_is_named_and_the_old_export_stays(
    out: Path, database: DynamicDatabase, tmp_path: Path
) -> None:
    before = contents(out)
    files = [PremiseFile("A", ("B",)), PremiseFile("B", ("C",)), PremiseFile("C", ("A",))]
    database.add_repository(Repository("circle", "c", premise_files=files))
    with pytest.raises(DatabaseError, match="A → B → C → A"):
        database.export_merged_data(database.repositories[-1:], out)
    assert contents(out)["corpus.jsonl"] == before["corpus.jsonl"]
    assert not list(out.rglob("*.tmp"))


def test_import_chains_deeper_than_pythons_stack() -> None:
    imports = {str(n): (str(n + 1),) for n in range(20_000)}
    order = list(dependencies_first(imports))
    assert order[0] == "19999"
    assert order[-1] == "0"


def test_an_order_that_is_fine_is_kept() -> None:
    imports = {"a": (), "c": ("a", "a"), "b": ("a", "zzz"), "d": ("b", "c")}
    assert list(dependencies_first(imports)) == ["a", "c", "b", "d"]


def test_other_files_in_the_folder_are_left_alone(out: Path, database: DynamicDatabase) -> None:
    (out / "notes.txt").write_text("mine")
    database.export_merged_data(database.repositories[:1], out)
    assert (out / "notes.txt").read_text() == "mine"
