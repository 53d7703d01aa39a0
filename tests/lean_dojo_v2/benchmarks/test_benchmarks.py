"""The built-in benchmarks: what they give, and that Lean takes it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2 import kinds
from lean_dojo_v2.benchmarks import JsonlBenchmark, problem_of
from lean_dojo_v2.benchmarks.jsonl import split_theorem, statement_from
from lean_dojo_v2.benchmarks.rows import project_of
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.lean import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.sample import sample_database_path

FILE = Path(__file__).parents[2] / "data" / "minif2f.jsonl"


def test_the_sample_is_held_out_and_sorry_theorems_with_their_files() -> None:
    problems = kinds.benchmarks["sample"].create().problems()
    splits = Counter(problem.split for problem in problems)
    assert set(splits) == {"val", "test", "sorry"}
    for problem in problems:
        assert problem.theorem is not None
        assert problem.theorem.traced_tactics == ()
        folder = project_of(problem)
        assert folder is not None
        assert (
            problem.full_name.rpartition(".")[2] in problem_of(problem, folder).source.declaration
        )
    only = kinds.benchmarks["sample"].create(split="sorry").problems()
    assert len(only) == splits["sorry"]


def test_held_out_are_those_that_no_trainer_sees() -> None:
    problems = kinds.benchmarks["held-out"].create(database=sample_database_path()).problems()
    assert problems
    assert all(split_of(problem.theorem) == problem.split != "train" for problem in problems)


def test_a_recorded_proof_changes_no_benchmark(tmp_path: Path) -> None:
    file = shutil.copy(sample_database_path(), tmp_path / "database.json")
    before = kinds.benchmarks["sorry"].create(database=file).problems()
    database = DynamicDatabase(file)
    theorem = database.repositories[0].sorry_theorems_unproved[0]
    database.record_proof(theorem, ["rfl"])
    after = kinds.benchmarks["sorry"].create(database=file).problems()
    assert [problem.full_name for problem in after] == [problem.full_name for problem in before]


def test_a_file_in_minif2fs_form(engine: Server) -> None:
    problems = JsonlBenchmark(FILE).problems()
    assert [problem.full_name for problem in problems] == [
        "mathd_algebra_1", "mathd_algebra_2", "with_a_definition", "without_an_end",
    ]  # fmt: skip
    assert problems[0].statement == "theorem mathd_algebra_1 (x : Nat) (h₀ : x + 1 = 3) : x = 2 :="
    assert [problem.split for problem in problems] == ["valid", "test", "test", None]
    proofs = ["omega", "rfl", "rfl", "omega"]
    for problem, proof in zip(problems, proofs, strict=True):
        assert problem_of(problem).check(engine, proof).valid, problem.full_name
        assert not problem_of(problem).check(engine, "exact False.elim").valid
    [_, only] = JsonlBenchmark(FILE, split="test").problems()
    assert only.full_name == "with_a_definition"
    assert JsonlBenchmark(FILE).name == "minif2f"


@pytest.mark.parametrize("end", ["", "\n  := by sorry"])
def test_a_statement_may_end_in_a_comment(end: str) -> None:
    text = f"theorem t : True -- easy{end}"
    assert split_theorem(text)[:3] == ("", "theorem t : True :=", "t")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: is not a JSON object"),
        (
            '{"name": "a"}',
            "line 2: has no text 'formal_statement'; its columns are 'name'",
        ),
        ('{"name": "a", "formal_statement": "theorem b : True"}', "no theorem called 'a'"),
        (
            '{"name": "a", "formal_statement": "theorem a : True", "header": 1}',
            "'header' and 'split' must be texts",
        ),
    ],
)
def test_a_line_that_is_none(tmp_path: Path, line: str, message: str) -> None:
    good = json.dumps({"name": "a", "formal_statement": "theorem a : True"})
    file = tmp_path / "a.jsonl"
    file.write_text(f"{good}\n{line}\n")
    with pytest.raises(DataError, match=message):
        JsonlBenchmark(file).problems()


def test_two_theorems_of_one_name_are_in_no_one_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    rows = [
        {"name": "a", "formal_statement": f"theorem a : {said}", "split": said}
        for said in ("True", "1 = 1")
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(DataError, match="several theorems called 'a'"):
        JsonlBenchmark(file).problems()
    assert len(JsonlBenchmark(file, split="True").problems()) == 1


@pytest.mark.parametrize("name", ["held-out", "sorry"])
def test_a_database_that_is_not_there(name: str) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.json: there is no such database"):
        kinds.benchmarks[name].create(database="nowhere.json").problems()
    with pytest.raises(UsageError, match="there is no such file"):
        JsonlBenchmark("nowhere.jsonl").problems()


def opens(engine: Server, statement: str, header: str = "") -> bool:
    problem = statement_from({"formal_statement": statement, "header": header}).problem
    try:
        problem_of(problem).open(engine)
    except LeanError:
        return False
    return True


def test_an_unknown_name_in_a_statement_is_no_variable(engine: Server) -> None:
    assert not opens(engine, "theorem t (x : ℝ) : x = x := by")
    assert not opens(engine, "theorem t (x : ℝ) : x = x := by", "import Init -- no ℝ\nopen Nat")
    assert opens(engine, "theorem t {α : Type} (x : α) : x = x := by")
    lax = "import Init\nset_option autoImplicit true"
    assert opens(engine, "theorem t (x : α) : x = x := by", lax)


def test_automation_proves_what_it_can(engine: Server) -> None:
    from lean_dojo_v2.lean_agent.config import ProverConfig

    prover = kinds.provers["automation"].create(config=ProverConfig(max_expansions=2))
    problems = [problem_of(problem) for problem in JsonlBenchmark(FILE).problems()]
    found = dict(prover.search_many(problems, [engine]))
    assert all(found[index].success for index in range(4))
    again = dict(prover.search_many(problems, [engine]))
    told = [attrs.evolve(each, seconds=0.0, tree=None) for each in found.values()]
    assert [attrs.evolve(each, seconds=0.0, tree=None) for each in again.values()] == told


@pytest.mark.parametrize(
    ("row", "name", "before", "statement"),
    [
        (
            {"uuid": "1", "formal_statement": "import Mathlib\n\ntheorem x_1 : 1 = 1 := by sorry"},
            "x_1", "import Mathlib\n\n", "theorem x_1 : 1 = 1 :=",
        ),
        (
            {"theorem_names": "y", "refined_statement": "lemma a : True := trivial\ntheorem y : True := by\n"},
            "y", "lemma a : True := trivial\n", "theorem y : True :=",
        ),
        (
            {"problem_id": "w", "full_proof": "theorem w (n : Nat) : n = n := by\n  rfl"},
            "w", "", "theorem w (n : Nat) : n = n :=",
        ),
        (
            {"name": "d", "header": "open Nat\n\n", "formal_statement": "theorem d : 2 = 2 := sorry"},
            "d", "open Nat\n\n", "theorem d : 2 = 2 :=",
        ),
        (
            {"name": "e", "header": "import Mathlib\n", "formal_statement": "import Std\ntheorem e : 2 = 2 :="},
            "e", "import Std\n", "theorem e : 2 = 2 :=",
        ),
    ],
)  # fmt: skip
def test_columns_of_public_sets(
    row: dict[str, str], name: str, before: str, statement: str
) -> None:
    found = statement_from(row).problem
    assert found.full_name == name
    assert (found.header or "").strip() == before.strip()
    assert found.statement == statement
