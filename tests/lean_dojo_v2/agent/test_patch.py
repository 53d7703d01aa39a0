"""Proofs become a patch that git applies and Lean compiles."""

from __future__ import annotations

import shutil
import subprocess

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.agent.proofs import ProvedTheorem, make_patch
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

PROOFS = {
    "Tiny.gap_pair": "constructor\n· exact hp\n· exact hq",
    "gap_chain": "apply hqr\napply hpq\nexact hp",
    "gap_term": "have h : n = n := by\n  rfl\nexact h",
}


@pytest.fixture
def proved(tiny_database):
    [repository] = DynamicDatabase(tiny_database).repositories
    return [
        ProvedTheorem.of(theorem, PROOFS[theorem.full_name])
        for theorem in repository.sorry_theorems_unproved
        if theorem.full_name in PROOFS
    ]


@pytest.fixture
def clone(tiny_repository, tmp_path):
    subprocess.run(["git", "clone", "-q", tiny_repository[0], tmp_path / "clone"], check=True)
    return tmp_path / "clone"


@pytest.mark.slow
def test_git_applies_the_patch_and_lean_compiles_the_result(proved, clone, tmp_path, monkeypatch):
    patch = make_patch(clone, proved)
    (tmp_path / "proofs.patch").write_bytes(patch.encode())
    subprocess.run(["git", "apply", "../proofs.patch"], cwd=clone, check=True)
    changed = subprocess.run(
        ["git", "diff", "--stat"], cwd=clone, check=True, capture_output=True, text=True
    ).stdout
    assert "Tiny/Basic.lean" in changed
    assert "2 files changed" in changed
    dos = (clone / "Tiny" / "Dos.lean").read_bytes()
    assert dos.count(b"\n") == dos.count(b"\r\n")
    assert b":= by\r\n  apply hqr\r\n  apply hpq\r\n  exact hp\r\n\r\ntheorem gap_term" in dos
    assert b"/-- A file with the line ends of Windows. -/\r\n" in dos

    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    traced = trace_repository(LeanGitRepo.from_path(clone), jobs=1)
    assert traced.metadata.get("trace_errors", []) == []
    assert [t.full_name for t in traced.sorry_theorems_unproved] == ["Tiny.gap_false"]


def test_the_last_proof_of_a_theorem_counts(proved, clone):
    [pair] = [p for p in proved if p.full_name == "Tiny.gap_pair"]
    patch = make_patch(clone, [attrs.evolve(pair, proof="simp"), pair])
    assert "+  constructor\n" in patch
    assert "simp" not in patch


def test_a_file_without_a_line_end_and_with_odd_characters(tmp_path):
    text = "-- form feed \x0c, line separator \u2028\ntheorem a : 1 = 1 := sorry"
    (tmp_path / "A.lean").write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    proof = ProvedTheorem("u", "c", "A.lean", "a", (2, 1), (2, 27), "theorem a : 1 = 1 :=", "rfl")
    (tmp_path / "p.patch").write_bytes(make_patch(tmp_path, [proof]).encode())
    subprocess.run(["git", "apply", "p.patch"], cwd=tmp_path, check=True)
    assert (tmp_path / "A.lean").read_text(encoding="utf-8") == text.replace(
        ":= sorry", ":= by\n  rfl"
    )


def test_files_that_are_not_the_traced_ones(proved, clone):
    shutil.copy(clone / "Tiny.lean", clone / "Tiny" / "Basic.lean")
    with pytest.raises(LeanError, match="Trace it again"):
        make_patch(clone, proved)
    (clone / "Tiny" / "Basic.lean").unlink()
    with pytest.raises(UsageError, match=r"Basic\.lean: there is no such file"):
        make_patch(clone, proved)


def test_no_proofs_no_patch(clone):
    assert make_patch(clone, []) == ""
