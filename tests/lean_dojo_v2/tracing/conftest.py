"""Repositories of git and Lean that tests of tracing share."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from typing import Any, Self

import pytest

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.database import Repository
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineMemoryError
from lean_dojo_v2.lean.pool.local import PoolConfig
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.project.lakefile import LakeProject, read_project
from lean_dojo_v2.tracing.project.modules import module_path
from lean_dojo_v2.tracing.project.workspace import read_workspace
from lean_dojo_v2.tracing.running.embedded import lay_out

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
    monkeypatch.setattr("lean_dojo_v2.tracing.running.engines.EnginePool", shared_pool)


@pytest.fixture(scope="session")
def edge(shared_pool: SharedPool, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The edge project, traced once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(tmp_path_factory.mktemp("edge")))
        patch.setattr("lean_dojo_v2.tracing.running.engines.EnginePool", shared_pool)
        repo = LeanGitRepo.from_path(EDGE_PROJECT, url="https://example.org/edge/project")
        return trace_repository(repo, engine="embedded", date="2026-01-02T03:04:05")


PROGRAM = """#!{python}
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect({address!r})
    stream = link.makefile("rw", encoding="utf-8")
    stream.write(json.dumps([os.getcwd(), *sys.argv[1:]]) + "\\n")
    stream.flush()
    code, text = json.loads(stream.readline())
sys.stdout.buffer.write(text.encode())
sys.exit(code)
"""


class Lake:
    """A ``lake`` whose Lean is the embedded engine: real messages and real ``.ilean`` files.

    The program itself is a few lines that send their arguments over a socket; the engine answers
    here, so that it starts once and not for every file.

    Attributes:
        unbuilt: Modules that ``lake build`` does not build, so that nobody can import them.
        translated: What ``translate-config`` makes of a ``lakefile.lean``; it fails without.
        asked: Files that Lean was asked for.
    """

    def __init__(self, folder: Path, pool: SharedPool) -> None:
        self._pool = pool
        self.bin = folder / "bin"
        self.library = folder / "lib"
        self._address = str(folder / "socket")
        self._lock = threading.Lock()
        for made in (self.bin, self.library):
            made.mkdir()
        program = self.bin / "lake"
        program.write_text(PROGRAM.format(python=sys.executable, address=self._address))
        program.chmod(0o755)
        self._known: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.reset()

    def reset(self) -> None:
        self.unbuilt: set[str] = set()
        self.translated: str | None = None
        self.asked: list[str] = []

    def __enter__(self) -> Self:
        outer = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                folder, *words = json.loads(self.rfile.readline())
                with outer._lock:
                    answer = outer.answer(Path(folder), words)
                self.wfile.write(json.dumps(answer).encode() + b"\n")

        self._server = ThreadingUnixStreamServer(self._address, Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, folder: Path, words: list[str]) -> tuple[int, str]:
        match words:
            case ["env", "lean", "--version"]:
                return 0, "Lean (version 4.28.0-pre, wasm32, commit 38f3c0c4, Release)\n"
            case ["env", "printenv", "LEAN_PATH"]:
                return 0, f"{self.library}\n"
            case ["env", "lean", "--print-libdir"]:
                return 0, "/no/such/toolchain/lib/lean\n"
            case ["build"]:
                self._build(read_project(folder))
                return 0, "Build completed successfully.\n"
            case ["translate-config", "toml", written] if self.translated is not None:
                Path(written).write_text(self.translated)
                return 0, ""
            case ["env", "lean", *options, "--json", "-i", ilean, path]:
                return self._lean(folder, options, Path(ilean), path.removeprefix("./"))
        return 2, f"error: unknown command {words}\n"

    def _build(self, project: LakeProject) -> None:
        workspace = read_workspace(project)
        lay_out(workspace, self._pool.view)
        for file in workspace.all:
            target = (self.library / module_path(file.module)).with_suffix(".ilean")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self._ilean(file.text, file.module))

    def _ilean(self, text: str, module: str, options: Mapping[str, Any] | None = None) -> str:
        """Lean's own file; in the engine all modules of a project are one to Lean, so name them."""
        traced = self._trace(text, module, options or {})
        data = json.loads(traced["ilean"])
        homes = {item["lean_name"]: item["module"] for item in traced["references"]}
        renamed = {}
        for key, info in data["references"].items():
            ident = json.loads(key)["c"]
            home = module if info["definition"] else homes.get(ident["n"], ident["m"])
            renamed[json.dumps({"c": {"m": home, "n": ident["n"]}})] = info
        return json.dumps({**data, "references": renamed})

    def _lean(self, folder: Path, options: list[str], ilean: Path, path: str) -> tuple[int, str]:
        self.asked.append(path)
        text = (folder / path).read_bytes().decode().replace("\r\n", "\n")
        files = read_workspace(read_project(folder)).all
        (file,) = (file for file in files if file.path == path)
        if missing := self.unbuilt & set(file.header.imports):
            said = f"unknown module prefix '{missing.pop()}'\n\nNo directory or file in the search path"
            place = {"pos": {"line": 1, "column": 0}, "endPos": {"line": 1, "column": 0}}
            return 1, json.dumps({"severity": "error", "data": said, "kind": "", **place}) + "\n"
        values = lean_options(options)
        assert values.pop("trace.Elab.info") is True
        assert values.pop("Elab.async") is False
        module = file.module
        traced = self._trace(text, module, values)
        messages = [
            *traced["messages"],
            *({"data": tree, "severity": "information"} for tree in traced["info_trees"]),
        ]
        failed = any(message["severity"] == "error" for message in messages)
        if not failed:
            ilean.write_text(self._ilean(text, module, values))
        lines = [json.dumps(message, ensure_ascii=False) for message in messages]
        return int(failed), "\n".join(["some line of lake's own", *lines, ""])

    def _trace(self, text: str, module: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Elaborate a file; once, for what it answers serves every command."""
        key = (module, text, json.dumps(options))
        if key not in self._known:
            request = {"file": text, "fileName": str(module_path(module)), "module": module}
            wanted = {"sequenceOnly": True, "infoTrees": True, "ilean": True, "options": options}
            answer = self._pool.server.run("dojo.trace", {**request, **wanted})
            assert "error" not in answer, answer
            self._known[key] = answer
        return self._known[key]


def lean_options(words: list[str]) -> dict[str, Any]:
    """Read ``-D name=value`` and ``-Dname=value``; all of ``words`` is of that form."""
    values: dict[str, Any] = {}
    for word in "\0".join(words).replace("-D\0", "-D").split("\0"):
        assert word.startswith("-D")
        name, _, value = word.removeprefix("-D").removeprefix("weak.").partition("=")
        values[name] = json.loads(value) if value in {"true", "false"} else value
    return values


@pytest.fixture(scope="session")
def lake(shared_pool: SharedPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A ``lake`` whose Lean is the embedded engine: real messages and real ``.ilean`` files."""
    with Lake(tmp_path_factory.mktemp("lake"), shared_pool) as made:
        yield made
