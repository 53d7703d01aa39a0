"""Repository: counts, look-up, names; in memory and read from SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.records import Theorem
from lean_dojo_v2.database import DynamicDatabase, NotInDatabaseError, Repository


@pytest.fixture(params=["plain", "json", "sqlite"])
def repo(
    request: pytest.FixtureRequest, repository: Callable[..., Repository], tmp_path: Path
) -> Repository:
    made = repository(1)
    if request.param == "plain":
        return made
    database = DynamicDatabase(tmp_path / f"db.{request.param}")
    database.add_repository(made)
    stored = database.get_repository(*made.key)
    assert stored is not None
    return stored


def test_counts(repo: Repository) -> None:
    assert repo.total_theorems == 12
    assert (repo.num_proven_theorems, repo.num_sorry_theorems) == (9, 3)
    assert (repo.num_sorry_theorems_proved, repo.num_sorry_theorems_unproved) == (0, 3)
    assert (repo.num_premise_files, repo.num_premises, repo.num_files_traced) == (3, 5, 3)
    assert sum(repo.difficulty_counts().values()) == 12


def test_counts_follow_the_lists(repo: Repository) -> None:
    repo.proven_theorems.clear()
    repo.premise_files.pop()
    assert (repo.total_theorems, repo.num_premise_files, repo.num_premises) == (3, 2, 2)
    assert sum(repo.difficulty_counts().values()) == 3


def test_all_theorems_in_order(repo: Repository) -> None:
    names = [theorem.full_name for theorem in repo.get_all_theorems]
    assert names == [theorem.full_name for theorem in repo.iter_theorems()]
    assert names[-3:] == ["N1.t3", "N1.t7", "N1.t11"]


@pytest.mark.parametrize("touched", [False, True])
def test_look_up(repo: Repository, touched: bool) -> None:
    if touched:
        assert repo.proven_theorems
        assert repo.premise_files
    found = repo.get_theorem("N1.t4", Path("Lib/F1.lean"))
    assert found is not None
    assert found.full_name == "N1.t4"
    assert repo.get_theorem("N1.t4", "Lib/F0.lean") is None
    file = repo.get_premise_file("Lib/F1.lean")
    assert file is not None
    assert [premise.full_name for premise in file.premises] == ["Lib.p0", "Lib.p1"]
    assert repo.get_premise_file("Nowhere.lean") is None


def test_update_theorem(repo: Repository, theorem: Callable[..., Theorem]) -> None:
    found = repo.get_theorem("N1.t0", "Lib/F0.lean")
    assert found is not None
    repo.update_theorem(attrs.evolve(found, theorem_statement="new"))
    again = repo.get_theorem("N1.t0", "Lib/F0.lean")
    assert again is not None
    assert again.theorem_statement == "new"
    assert repo.total_theorems == 12
    with pytest.raises(NotInDatabaseError, match="unknown"):
        repo.update_theorem(theorem("unknown"))


def test_of_two_theorems_of_one_name_the_one_at_the_place_is_meant(
    repo: Repository, theorem: Callable[..., Theorem]
) -> None:
    one, two = (theorem("twin", "sorry", start=(line, 1)) for line in (5, 50))
    repo.sorry_theorems_unproved.extend([one, two])
    repo.change_sorry_to_proven(attrs.evolve(two, traced_tactics=()))
    assert [t.start for t in repo.sorry_theorems_proved] == [(50, 1)]


def test_sorry_to_proven(repo: Repository, tmp_path: Path) -> None:
    theorem = repo.sorry_theorems_unproved[1]
    repo.change_sorry_to_proven(theorem, str(tmp_path / "log.txt"))
    assert (repo.num_sorry_theorems_proved, repo.num_sorry_theorems_unproved) == (1, 2)
    assert theorem.full_name in (tmp_path / "log.txt").read_text()
    with pytest.raises(NotInDatabaseError):
        repo.change_sorry_to_proven(theorem, tmp_path / "log.txt")


def test_equal_by_url_and_commit(repo: Repository) -> None:
    assert repo == Repository(*repo.key)
    assert {repo: 1}[Repository(*repo.key)] == 1
    assert repo != Repository(repo.url, "another")
    assert repo != repo.key


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/owner/repo", "owner/repo"),
        ("https://github.com/owner/repo.git", "owner/repo"),
        ("git@github.com:owner/repo.git", "owner/repo"),
        ("/home/me/my project", "my project"),
    ],
)
def test_the_name_follows_from_the_address(url: str, name: str) -> None:
    assert Repository(url, "c").name == name


@pytest.mark.parametrize(
    "url",
    ["https://github.com/a/b", "../..", "/", "C:\\x\\..\\y", "…", "a" * 999, "https://x/a\0b\n"],
)
def test_as_text_it_is_one_folders_name(url: str, tmp_path: Path) -> None:
    text, other = str(Repository(url, "c1")), str(Repository(url, "c2"))
    (tmp_path / text).mkdir()
    assert [child.name for child in tmp_path.iterdir()] == [text]
    assert text != other
    assert text == str(Repository(url, "c1"))
