"""Repositories of git and Lean that tests of tracing share."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineMemoryError
from lean_dojo_v2.lean.pool.local import PoolConfig
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.project.lakefile import read_project
from lean_dojo_v2.tracing.project.workspace import read_workspace
from lean_dojo_v2.tracing.running.engines import compile_module

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


RECYCLE_MB = 1_800


class SharedPool:
    """A pool of one engine that starts once for all tests; it takes the place of ``EnginePool``.

    Args:
        server: The engine, whose project folder is ``view``.
        view: Where it looks for modules.
    """

    def __init__(self, server: Server, view: Path) -> None:
        self.server = server
        self.view = view

    def __call__(self, config: PoolConfig) -> Self:
        assert config.project_path is not None
        if self.server.memory_mb > RECYCLE_MB:  # as pools do
            self.server.close()
        self.folder = Path(config.project_path)
        shutil.rmtree(self.view)
        shutil.copytree(self.folder, self.view)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, fn: Callable[..., Any], *args: Any, **_: str) -> Future[Any]:
        future: Future[Any] = Future()
        shutil.copytree(self.folder, self.view, dirs_exist_ok=True)  # what was compiled since then
        try:
            try:
                future.set_result(fn(self.server, *args))
            except EngineMemoryError:
                future.set_result(fn(self.server, *args))
        except LeanDojoError as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="session")
def shared_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedPool]:
    view = tmp_path_factory.mktemp("view")
    with Server(engine="embedded", project_path=view, timeout=300) as server:
        yield SharedPool(server, view)


@pytest.fixture
def one_engine(shared_pool: SharedPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trace with the engine that all tests share."""
    monkeypatch.setattr("lean_dojo_v2.lean.EnginePool", shared_pool)


@pytest.fixture(scope="session")
def edge(shared_pool: SharedPool, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The edge project, traced once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(tmp_path_factory.mktemp("edge")))
        patch.setattr("lean_dojo_v2.lean.EnginePool", shared_pool)
        repo = LeanGitRepo.from_path(EDGE_PROJECT, url="https://example.org/edge/project")
        return trace_repository(repo, engine="embedded", date="2026-01-02T03:04:05")


LEAN = """\
#!/bin/sh
case "$1" in
--version) echo "Lean (version 4.28.0, x86_64-unknown-linux-gnu, commit 0123abcd, Release)" ;;
--root=*) printf olean > "$4" ;;
esac
"""
LAKE = """\
#!/bin/sh
case "$1 $2" in
"build ") ;;
"translate-config toml") cp {translated} "$3" ;;
*) exit 2 ;;
esac
"""


class OwnLean:
    """A ``lean`` and a ``lake`` of a few lines; the engine behind them is the one of all tests.

    Attributes:
        translated: What ``translate-config`` makes of a ``lakefile.lean``; it fails without.
    """

    def __init__(self, folder: Path, pool: SharedPool) -> None:
        self._pool = pool
        self.translated = folder / "translated.toml"
        write_program(folder / "lean", LEAN)
        write_program(folder / "lake", LAKE.format(translated=self.translated))

    def build(self, folder: Path) -> None:
        """Do what ``lake build`` does: compile every module of a project."""
        pool = self._pool(PoolConfig(project_path=folder))
        for file in read_workspace(read_project(folder)).all:
            pool.submit(partial(compile_module, keep=folder), file, 300).result()


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def own_lean(
    one_engine: None,
    shared_pool: SharedPool,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> OwnLean:
    """The project's own Lean, to all appearances."""
    folder = tmp_path_factory.mktemp("tools")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("LEAN_DOJO_CACHE", str(folder / "cache"))
    monkeypatch.delenv("LEAN_DOJO_PANTOGRAPH", raising=False)
    return OwnLean(folder, shared_pool)
