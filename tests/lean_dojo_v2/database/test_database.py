"""DynamicDatabase, every test over JSON and over SQLite."""

from __future__ import annotations

import math
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import PremiseFile, Theorem, TracedTactic
from lean_dojo_v2.database import DynamicDatabase, NotInDatabaseError, Repository
from lean_dojo_v2.database.locking import file_lock
from lean_dojo_v2.errors import DatabaseError


@pytest.fixture
def filled(database: DynamicDatabase, repository: Callable[..., Repository]) -> DynamicDatabase:
    for number in range(3):
        database.add_repository(repository(number))
    return database


def reopened(database: DynamicDatabase) -> DynamicDatabase:
    return DynamicDatabase(database.json_path)


# --- opening -----------------------------------------------------------------------------------


def test_a_new_database_is_empty_and_its_first_change_makes_the_file(path: Path) -> None:
    deep = path.parent / "a" / "b" / path.name
    database = DynamicDatabase(str(deep))
    assert database.repositories == []
    assert database.get_repository("https://example.org/a", "c") is None
    assert database.to_dict() == {"repositories": []}
    assert not deep.parent.parent.exists()
    with pytest.raises(ValueError, match="no theorem with a finished proof"):
        database.sort_repositories_by_difficulty()
    other = DynamicDatabase(str(deep))  # of another process, say
    other.add_repository(Repository("https://example.org/a", "c"))
    assert [repo.url for repo in database.repositories] == ["https://example.org/a"]
    empty = path.parent / "c" / path.name
    DynamicDatabase(path.parent / "none.json").update_json(empty)
    assert empty.exists()
    assert DynamicDatabase(empty).repositories == []


def test_its_repr_and_the_names_that_complete(filled: DynamicDatabase) -> None:
    assert repr(filled) == f"<database {str(filled.json_path)!r}: 3 repositories>"
    assert repr(DynamicDatabase.from_dict({"repositories": []})) == (
        "<database 'in memory': 0 repositories>"
    )
    keys = filled._ipython_key_completions_()
    assert keys == [f"owner{number}/repo{number}@{'0' * 12}" for number in range(3)]
    assert filled[keys[1]] == filled["Owner1/repo1"]
    assert filled[keys[1]].url == "https://github.com/owner1/repo1"


def test_a_name_must_mean_one_repository(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    with pytest.raises(NotInDatabaseError, match=r"no repository is 'owner1'; there are: owner0/"):
        filled["owner1"]
    later = repository(1)
    later.commit = "f" * 40
    filled.add_repository(later)
    with pytest.raises(NotInDatabaseError, match="several repositories are 'owner1/repo1'"):
        filled["owner1/repo1"]
    assert filled["owner1/repo1@fff"] == filled[f"{later.url}@fff"] == later
    for ask in (list, lambda database: "owner1/repo1" in database):
        with pytest.raises(TypeError, match="iterable"):
            ask(filled)


def test_opening_never_empties(filled: DynamicDatabase) -> None:
    before = filled.json_path.read_bytes()
    for _ in range(2):
        assert len(reopened(filled).repositories) == 3
    assert filled.json_path.read_bytes() == before


def test_a_file_of_no_bytes_is_no_database(path: Path) -> None:
    path.touch()
    with pytest.raises(DatabaseError, match="has no bytes"):
        DynamicDatabase(path)
    assert path.read_bytes() == b""


def test_everything_is_stored_at_once_and_comes_back(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    again = reopened(filled)
    assert [repo.key for repo in again.repositories] == [repository(n).key for n in range(3)]
    for number, repo in enumerate(again.repositories):
        original = repository(number)
        assert [attrs.evolve(t, difficulty_rating=None) for t in repo.get_all_theorems] == list(
            original.iter_theorems()
        )
        assert repo.premise_files == original.premise_files
        assert repo.files_traced == original.files_traced
        assert repo.metadata == original.metadata


@pytest.mark.parametrize("name", ["it's a «db» 100%?#", "ελπίδα"])
def test_odd_file_names(path: Path, repository: Callable[..., Repository], name: str) -> None:
    odd = path.with_name(name + path.suffix)
    DynamicDatabase(odd).add_repository(repository(1))
    assert DynamicDatabase(odd).get_repository(*repository(1).key) is not None


def test_a_link_is_written_through(path: Path, repository: Callable[..., Repository]) -> None:
    DynamicDatabase(path)
    link = path.with_name(f"link{path.suffix}")
    link.symlink_to(path)
    DynamicDatabase(link).add_repository(repository(1))
    assert link.is_symlink()
    assert len(DynamicDatabase(path).repositories) == 1


# --- repositories ------------------------------------------------------------------------------


def test_adding_twice_changes_nothing(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    filled.add_repository(Repository(*repository(1).key))
    assert [repo.total_theorems for repo in filled.repositories] == [12, 12, 12]


def test_get_and_delete(filled: DynamicDatabase, repository: Callable[..., Repository]) -> None:
    key = repository(1).key
    assert filled.get_repository(*key) == repository(1)
    assert filled.get_repository(key[0], "another commit") is None
    filled.delete_repository(*key)
    assert filled.get_repository(*key) is None
    assert len(reopened(filled).repositories) == 2
    with pytest.raises(NotInDatabaseError, match="repo1") as caught:
        filled.delete_repository(*key)
    assert isinstance(caught.value, ValueError)


def test_updating_what_is_not_there_is_an_error(database: DynamicDatabase) -> None:
    with pytest.raises(NotInDatabaseError, match="no repository u at commit c"):
        database.update_repository(Repository("u", "c"))


def test_an_update_stores_every_change(
    filled: DynamicDatabase,
    repository: Callable[..., Repository],
    theorem: Callable[..., Theorem],
) -> None:
    repo = filled.get_repository(*repository(1).key)
    assert repo is not None
    moved = repo.proven_theorems.pop(2)
    repo.proven_theorems.insert(0, theorem("new.first", "simp"))
    repo.proven_theorems.append(moved)
    repo.proven_theorems[3] = attrs.evolve(repo.proven_theorems[3], theorem_statement="changed")
    del repo.sorry_theorems_unproved[0]
    repo.premise_files[1:2] = [PremiseFile("X.lean"), PremiseFile("Y.lean", ("X.lean",))]
    repo.files_traced.append("X.lean")
    repo.lean_version, repo.pr_url = "v4.29.0", "https://github.com/x/y/pull/1"
    filled.update_repository(repo)
    expected = repo.to_dict()
    stored = reopened(filled).get_repository(*repo.key)
    assert stored is not None
    assert stored.to_dict() == expected
    assert stored.proven_theorems[3].theorem_statement == "changed"
    assert stored.total_theorems == stored.num_proven_theorems + stored.num_sorry_theorems == 12


def test_a_new_object_replaces_the_stored_one(
    filled: DynamicDatabase, repository: Callable[..., Repository], theorem: Callable[..., Theorem]
) -> None:
    key = repository(1).key
    filled.update_repository(Repository(*key, proven_theorems=[theorem("only", "simp")]))
    stored = reopened(filled).get_repository(*key)
    assert stored is not None
    assert [t.full_name for t in stored.iter_theorems()] == ["only"]
    assert (stored.num_premise_files, stored.num_files_traced) == (0, 0)


def test_contents_are_printed(filled: DynamicDatabase, capsys: pytest.CaptureFixture[str]) -> None:
    filled.print_database_contents()
    printed = capsys.readouterr().out
    assert "3 repositories" in printed
    assert "owner2/repo2" in printed
    assert "12 theorems" in printed


# --- proofs ------------------------------------------------------------------------------------


def test_a_proof_is_recorded(
    filled: DynamicDatabase, repository: Callable[..., Repository], tmp_path: Path
) -> None:
    key, log = repository(1).key, tmp_path / "logs" / "proofs.log"
    theorem = repository(1).sorry_theorems_unproved[1]
    known = TracedTactic("simp", "⊢ True", "no goals")
    proven = filled.record_proof(theorem, [known, "omega"], log_file=log)
    assert proven.difficulty_rating == math.exp(2)
    for database in (filled, reopened(filled)):
        repo = database.get_repository(*key)
        assert repo is not None
        assert (repo.num_sorry_theorems_proved, repo.num_sorry_theorems_unproved) == (1, 2)
        assert repo.sorry_theorems_proved == [proven]
        assert repo.get_theorem(theorem.full_name, theorem.file_path) == proven
    assert theorem.full_name in log.read_text()
    with pytest.raises(NotInDatabaseError, match="unproved"):
        filled.record_proof(theorem, ["again"])


def test_a_proof_of_an_unknown_theorem_is_an_error(
    filled: DynamicDatabase, theorem: Callable[..., Theorem]
) -> None:
    with pytest.raises(NotInDatabaseError, match="no repository"):
        filled.record_proof(theorem("x"), ["simp"])


def test_the_documented_way_to_record_a_proof(
    filled: DynamicDatabase, repository: Callable[..., Repository], tmp_path: Path
) -> None:
    repo = filled.get_repository(*repository(2).key)
    assert repo is not None
    theorem = attrs.evolve(repo.sorry_theorems_unproved[0], traced_tactics=())
    repo.change_sorry_to_proven(theorem, tmp_path / "log")
    filled.update_repository(repo)
    stored = reopened(filled).get_repository(*repo.key)
    assert stored is not None
    assert [t.full_name for t in stored.sorry_theorems_proved] == [theorem.full_name]


def test_a_stale_copy_does_not_lose_a_proof(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    """Somebody read the repository before a proof was found, and stores it afterwards."""
    stale = repository(1)
    proven = filled.record_proof(stale.sorry_theorems_unproved[0], ["simp"])
    stale.proven_theorems.pop()
    filled.update_repository(stale)
    stored = reopened(filled).get_repository(*stale.key)
    assert stored is not None
    assert stored.sorry_theorems_proved == [proven]
    assert stored.num_sorry_theorems_unproved == 2
    assert stored.total_theorems == 11


def test_two_handles_see_each_others_changes(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    other = reopened(filled)
    first, second, third = repository(0).sorry_theorems_unproved
    filled.record_proof(first, ["simp"])
    other.record_proof(second, ["simp"])
    filled.delete_repository(*repository(1).key)
    other.add_repository(repository(7))
    filled.record_proof(third, ["simp"])
    for database in (filled, other, reopened(filled)):
        assert [repo.name for repo in database.repositories] == [
            *("owner0/repo0", "owner2/repo2", "owner7/repo7"),
        ]
        assert database.repositories[0].num_sorry_theorems_proved == 3


def test_another_handle_removes_a_repository_while_one_is_read(
    database: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    for number in range(2):
        database.add_repository(repository(number, 600))
    reading = database.repositories[1].iter_list("proven_theorems")
    names = [next(reading).full_name]
    reopened(database).delete_repository(*repository(0).key)
    names += [theorem.full_name for theorem in reading]
    assert names == [theorem.full_name for theorem in repository(1, 600).proven_theorems]


def test_a_reader_sees_each_theorem_whatever_another_handle_does(
    database: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    database.add_repository(repository(1, 2000))
    expected = [theorem.full_name for theorem in repository(1, 2000).sorry_theorems_unproved]
    reading = database.repositories[0].iter_list("sorry_theorems_unproved")
    seen = [next(reading).full_name for _ in range(100)]
    other = reopened(database)
    for theorem in repository(1, 2000).sorry_theorems_unproved[:20]:
        other.record_proof(theorem, ["simp"])
    assert database.repositories[0].num_sorry_theorems_proved == 20
    assert seen + [theorem.full_name for theorem in reading] == expected


def test_a_change_inside_a_snapshot_is_refused_and_loses_nothing(
    tmp_path: Path, repository: Callable[..., Repository]
) -> None:
    filled = DynamicDatabase(tmp_path / "db.sqlite")
    filled.add_repository(repository(0))
    first, second, _ = repository(0).sorry_theorems_unproved
    other = reopened(filled)
    with filled.storage.snapshot():
        assert len(filled.repositories) == 1
        other.record_proof(first, ["simp"])
        with pytest.raises(DatabaseError):
            filled.record_proof(second, ["simp"])
    filled.record_proof(second, ["simp"])
    assert reopened(filled).repositories[0].num_sorry_theorems_proved == 2


def test_a_repository_is_stored_under_another_commit(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    repo = filled.get_repository(*repository(1).key)
    assert repo is not None
    repo.commit = "another"
    filled.add_repository(repo)
    stored = filled.get_repository(repo.url, "another")
    assert stored is not None
    assert stored.total_theorems == 12
    repo.proven_theorems.pop()
    repo.commit = repository(1).commit  # now its own rows again
    filled.update_repository(repo)
    other = filled.get_repository(*repository(0).key)
    assert other is not None
    other.url, other.commit = repo.key
    filled.update_repository(other)  # all of it, touched or not
    assert [t.full_name for t in reopened(filled).repositories[1].iter_theorems()] == [
        t.full_name for t in repository(0).iter_theorems()
    ]
    gone = filled.get_repository(*repository(2).key)
    assert gone is not None
    filled.delete_repository(*gone.key)
    if str(filled.json_path).endswith(".json"):  # an object in memory needs no file
        filled.add_repository(gone)
        assert filled.repositories[-1].to_dict() == gone.to_dict()
        return
    with pytest.raises(NotInDatabaseError):
        filled.add_repository(gone)
    assert filled.get_repository(*gone.key) is None


def test_two_databases_are_copied_into_each_other(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    databases = [DynamicDatabase(tmp_path / f"{number}.json") for number in range(2)]
    for number, database in enumerate(databases):
        database.add_repository(repository(number))

    def copy(source: int) -> None:
        key = repository(source).key
        for _ in range(8):
            repo = databases[source].get_repository(*key)
            assert repo is not None
            databases[1 - source].add_repository(repo)
            databases[1 - source].delete_repository(*key)

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(copy, source) for source in range(2)]:
            future.result(timeout=60)


# --- other forms -------------------------------------------------------------------------------


def test_dict_and_back(filled: DynamicDatabase) -> None:
    data = filled.to_dict()
    copy = DynamicDatabase.from_dict(data)
    assert copy.to_dict() == data == filled.to_dict()


def test_json_and_back(filled: DynamicDatabase, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    filled.to_json(copy)
    assert DynamicDatabase.from_json(copy).to_dict() == filled.to_dict()
    with pytest.raises(UsageError, match="no such database"):
        DynamicDatabase.from_json(tmp_path / "missing.json")
    with pytest.raises(UsageError, match="update_json"):
        filled.to_json(tmp_path / "copy.sqlite")


def test_threads_share_a_database(
    filled: DynamicDatabase, repository: Callable[..., Repository]
) -> None:
    theorems = [t for n in range(3) for t in repository(n).sorry_theorems_unproved]
    with ThreadPoolExecutor(4) as pool:
        proven = list(pool.map(lambda t: filled.record_proof(t, ["simp"]), theorems))
    stored = [t for r in reopened(filled).repositories for t in r.sorry_theorems_proved]
    assert sorted(t.full_name for t in stored) == sorted(t.full_name for t in proven)


def test_data_that_nobody_may_write_is_read(
    filled: DynamicDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = filled.to_dict()
    filled.close()
    before = sorted(filled.json_path.parent.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with reopened(filled) as database:
        assert database.to_dict() == expected
        assert sorted(filled.json_path.parent.iterdir()) == before


@pytest.mark.parametrize("suffix", ["json", "sqlite"])
def test_another_file_is_brought_up_to_date(
    filled: DynamicDatabase, repository: Callable[..., Repository], tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"other.{suffix}"
    with DynamicDatabase(target) as other:
        other.add_repository(repository(9))
        other.add_repository(Repository(*repository(1).key))
    filled.update_json(target)
    with DynamicDatabase(target) as other:
        assert [repo.name[5:] for repo in other.repositories] == [
            *("9/repo9", "1/repo1", "0/repo0", "2/repo2"),
        ]
        assert other.repositories[1].to_dict() == filled.repositories[1].to_dict()
    fresh = tmp_path / "new" / f"fresh.{suffix}"
    filled.update_json(fresh)
    assert DynamicDatabase(fresh).to_dict() == filled.to_dict()


def test_a_database_goes_to_another_process(filled: DynamicDatabase) -> None:
    assert pickle.loads(pickle.dumps(filled)).to_dict() == filled.to_dict()
    memory = DynamicDatabase.from_dict(filled.to_dict())
    assert pickle.loads(pickle.dumps(memory)).to_dict() == filled.to_dict()
    for repo in filled.repositories:
        copy = pickle.loads(pickle.dumps(repo))
        assert type(copy) is Repository
        assert copy.to_dict() == repo.to_dict()


def test_what_json_cannot_say_is_an_error_and_changes_nothing(
    filled: DynamicDatabase, theorem: Callable[..., Theorem]
) -> None:
    before = filled.to_dict()
    bad = Repository("u", "c", proven_theorems=[theorem("\ud800", "simp")])
    with pytest.raises(DatabaseError, match="JSON"):
        filled.add_repository(bad)
    with pytest.raises(DatabaseError, match="JSON"):
        filled.record_proof(filled.repositories[0].sorry_theorems_unproved[0], ["\udfff"])
    assert reopened(filled).to_dict() == before == filled.to_dict()
    filled.record_proof(filled.repositories[0].sorry_theorems_unproved[0], ["simp"])


def test_a_lock_that_another_process_holds_is_told(tmp_path: Path) -> None:
    held = tmp_path / "db.json"
    with file_lock(held), ThreadPoolExecutor(1) as other:

        def wait() -> None:
            with file_lock(held, patience=0.05):
                pass

        with pytest.raises(DatabaseError, match=r"db\.json: locked by another process for 0\.05 s"):
            other.submit(wait).result()
