"""What the project's own Lean gives is what the embedded engine gives, field by field."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.database import Repository
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from tests.lean_dojo_v2.tracing.conftest import DATA, EDGE_PROJECT

CHAPTERS = ("Macros", "Mutual")


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``lean`` and a ``lake`` behind which the WebAssembly build works."""
    use_toolchain(tmp_path / "toolchain", monkeypatch)


def some_chapters(folder: Path) -> Path:
    """Write a part of the corpus of ordinary Lean."""
    shutil.copytree(DATA / "ordinary_project", folder)
    for path in (folder / "Ordinary").glob("*.lean"):
        if path.stem not in CHAPTERS:
            path.unlink()
    (folder / "Ordinary.lean").write_text("".join(f"import Ordinary.{c}\n" for c in CHAPTERS))
    return folder


def traced(folder: Path, engine: str) -> Repository:
    repo = LeanGitRepo.from_path(folder, url="https://example.org/edge/project")
    return trace_repository(repo, engine=engine, jobs=1, date="2026-01-02T03:04:05")


def assert_same(native: Repository, embedded: Repository) -> None:
    ours, theirs = native.to_dict(), embedded.to_dict()
    said = ours["metadata"].pop("engine"), theirs["metadata"].pop("engine")
    assert said[0].startswith("native Lean (version 4.28.0")
    assert said[1].startswith("embedded ")
    assert ours == theirs
    steps = [step for theorem in native.iter_theorems() for step in theorem.traced_tactics]
    assert steps
    assert all(step.digest is not None for step in steps)


@pytest.mark.slow
@pytest.mark.usefixtures("on_path")
def test_the_edge_project(edge: Repository) -> None:
    assert_same(traced(EDGE_PROJECT, "native"), edge)


@pytest.mark.slow
@pytest.mark.usefixtures("on_path")
def test_ordinary_lean(tmp_path: Path, shared_pool, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = some_chapters(tmp_path / "ordinary")
    native = traced(folder, "native")
    monkeypatch.setattr("lean_dojo_v2.lean.EnginePool", shared_pool)
    assert_same(native, traced(folder, "embedded"))
