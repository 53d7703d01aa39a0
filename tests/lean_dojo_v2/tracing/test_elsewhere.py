"""Proofs that outside theorems, and what a trace leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_core import registry
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from tests.lean_dojo_v2.tracing.conftest import SharedPool

TEXT = """\
import Lean
open Lean in
macro "lemma' " n:ident s:Parser.Command.declSig v:Parser.Command.declVal : command =>
  `(command| theorem $n:ident $s $v)
macro "mk" n:ident : command => `(theorem $n : 1 + 1 = 2 := by rfl)
macro "mkBy" n:ident t:tactic : command => `(theorem $n : 2 + 2 = 4 := by $t:tactic)

theorem plain (p : Prop) (h : p) : p := by
  exact h

lemma' viaMacro (a b : Nat) (h : a = b) : b = a := by
  subst h
  rfl

mk made
mkBy madeBy decide

/-- a definition -/
def withProof (n : Nat) (h : 0 < n) : Fin n := ⟨0, by
  exact h⟩

instance : Inhabited (Fin 3) := ⟨by
  exact ⟨1, by decide⟩⟩

@[instance] noncomputable abbrev second : Inhabited (Fin 4) := ⟨1, by
  decide⟩

structure S where
  n : Nat
  pos : 0 < n
def s : S where
  n := 2
  pos := by
    decide

open Nat in
/-- an example -/
example (a b : Nat) : a + b = b + a := by
  rw [Nat.add_comm]

def termMode : Fin 2 := ⟨1, Nat.lt_succ_self 1⟩
example : 1 = 1 := rfl

theorem wrong : 1 = 2 := by
  constructor
example (h : p) : 1 = 2 := by
  exact wrong
def later (n : Nat) (h : 0 < n) : Fin n := ⟨0, by
  have := h
  sorry⟩
"""
ELSEWHERE = {
    "viaMacro": ("lemma' viaMacro (a b : Nat) (h : a = b) : b = a :=", ["subst h", "rfl"]),
    "madeBy": ("mkBy madeBy decide", ["decide"]),
    "withProof": ("def withProof (n : Nat) (h : 0 < n) : Fin n :=", ["exact h"]),
    "instInhabitedFinOfNatNat_lib": (
        "instance : Inhabited (Fin 3) :=",
        ["exact ⟨1, by decide⟩", "decide"],
    ),
    "second": ("@[instance] noncomputable abbrev second : Inhabited (Fin 4) :=", ["decide"]),
    "s": ("def s : S :=", ["decide"]),
    "example_at_line_38": ("example (a b : Nat) : a + b = b + a :=", ["rw [Nat.add_comm]"]),
}


@pytest.fixture(scope="module")
def traced(shared_pool: SharedPool, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("lib")
    (folder / "lakefile.toml").write_text('name = "lib"\n[[lean_lib]]\nname = "Lib"\n')
    (folder / "Lib.lean").write_text(TEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(tmp_path_factory.mktemp("raid")))
        patch.setattr("lean_dojo_v2.lean.EnginePool", shared_pool)
        return trace_repository(LeanGitRepo.from_path(folder), engine="embedded", jobs=1)


def test_proofs_of_every_kind(traced: Repository) -> None:
    found = {
        proof.full_name: (proof.theorem_statement, [t.tactic for t in proof.traced_tactics])
        for proof in traced.other_proofs
    }
    assert found == ELSEWHERE
    assert [theorem.full_name for theorem in traced.proven_theorems] == ["plain"]
    assert (traced.total_theorems, traced.sorry_theorems_unproved) == (1, [])
    (exact,) = traced.other_proofs[2].traced_tactics
    assert (exact.state_before, exact.state_after) == ("n : Nat\nh : 0 < n\n⊢ 0 < n", "no goals")
    assert (exact.start, exact.end) == ((20, 3), (20, 10))


def test_what_is_left_out_is_counted(traced: Repository) -> None:
    assert traced.metadata["proofs_elsewhere"] == {
        "abbrev": 1, "def": 2, "example": 1, "instance": 1, "lemma'": 1, "mkBy": 1,
    }  # fmt: skip
    assert traced.metadata["proofs_left_out"] == {
        "made by a macro, without a tactic in the source": 1,
        "that rest on an error": 1,
        "with an error": 1,
        "with sorry, outside a theorem": 1,
    }


def test_they_are_learned_from_and_are_no_problems(traced: Repository) -> None:
    rows = registry.dataset_formatters["tactic-chat"].create()
    for_rewards = registry.dataset_formatters["tactic-prompt"].create()
    for proof in traced.other_proofs:
        assert not proof.is_problem
        assert len(list(rows.rows(proof))) == len(proof.traced_tactics)
        assert list(for_rewards.rows(proof)) == []
    (plain,) = traced.proven_theorems
    assert plain.is_problem
    assert len(list(for_rewards.rows(plain))) == 1


@pytest.mark.parametrize("name", ["db.json", "db.sqlite"])
def test_a_database_keeps_them(traced: Repository, tmp_path: Path, name: str) -> None:
    with DynamicDatabase(tmp_path / name) as database:
        database.add_repository(traced)
    for _ in range(2):
        with DynamicDatabase(tmp_path / name) as database:
            (read,) = database.repositories
            assert list(read.other_proofs) == traced.other_proofs
            assert read.total_theorems == 1
            assert len(read.get_all_theorems) == 1 + len(ELSEWHERE)
            database.update_repository(traced)


def test_the_summary_says_it(
    traced: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    project: Callable[..., Path],
) -> None:
    monkeypatch.setattr("lean_dojo_v2.tracing.trace_repository", lambda *_, **__: traced)
    folder = project({"Lib.lean": TEXT})
    assert main(["trace", str(folder), "-o", str(tmp_path / "db.json")]) == 0
    said = capfd.readouterr().err
    assert (
        "also 7 proofs outside theorems, with 90.0% of all tactics (9): abbrev 1, def 2, "
        "example 1, instance 1, lemma' 1, mkBy 1; they are training data" in said
    )
    assert "left out 33.3% of the proofs (4): 1 made by a macro" in said
    assert "1 theorem (0 sorry), 1 tactic, " in said
