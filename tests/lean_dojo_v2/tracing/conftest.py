"""Repositories of git and Lean that tests of tracing share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"
EDGE_PROJECT = DATA / "edge_project"


@pytest.fixture(autouse=True)
def raid(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh folder for clones and caches."""
    folder = tmp_path_factory.mktemp("raid")
    monkeypatch.setenv("RAID_DIR", str(folder))
    return folder


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a git configuration of its own."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Emmy\n\temail = emmy@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    return home


Git = Callable[..., str]


@pytest.fixture
def git(git_home: Path) -> Git:
    """Run git in a folder: ``git(folder, "commit", …)``."""

    def run(folder: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    return run


def write_project(folder: Path, files: Mapping[str, str], lakefile: str | None = None) -> Path:
    """Write a Lean project; files are relative to it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = lakefile if lakefile is not None else 'name = "x"\n[[lean_lib]]\nname = "Lib"\n'
    (folder / "lakefile.toml").write_text(text)
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Make a Lean project: ``project({"Lib.lean": "…"}, lakefile=…)``."""

    def make(files: Mapping[str, str], lakefile: str | None = None, name: str = "project") -> Path:
        return write_project(tmp_path / name, files, lakefile)

    return make


@pytest.fixture
def remote(tmp_path: Path, git: Git) -> tuple[Path, list[str]]:
    """A git repository with two commits, a tag and a branch; and its commits, oldest first."""
    folder = write_project(tmp_path / "remote", {"Lib.lean": "theorem a : 1 = 1 := rfl\n"})
    git(folder, "init", "--quiet")
    commits = []
    for number in (1, 2):
        (folder / "Lib.lean").write_text(f"theorem a : {number} = {number} := rfl\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", f"{number}")
        commits.append(git(folder, "rev-parse", "HEAD"))
    git(folder, "tag", "v1", commits[0])
    git(folder, "branch", "old/one", commits[0])
    return folder, commits
