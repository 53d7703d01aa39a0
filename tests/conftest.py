"""Fixtures for all three rooms: real distributions, really installed."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import pytest
from by_subject import lines
from two_ends import TwoEnds

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed

if TYPE_CHECKING:
    from chromium import Chromium
    from playwright.sync_api import Browser

WheelMaker = Callable[..., Path]
Once = Callable[[str, Callable[[Path], None]], Path]

# A distribution of its own, with its own tests: test_example_plugin.py installs it and runs them.
collect_ignore = ["data", "example_plugin"]

# A shell without job control starts jobs with SIGINT ignored, and children inherit that; tests of
# interrupted programs need it as it is at a terminal.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = {"test_wheel.py", "test_demo.py", "test_whole.py", "test_base_model.py"}
"""Files of minutes; they go first, so that at the end no worker waits for another."""

KNOWN_FLAKY = {
    # Ray gives its first process 30 s to start, whatever else the machine does; no option changes it.
    "starts_ray": "timed out during startup",
}
"""Marks of tests that fail for a reason outside this project, and what they say then."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> TwoEnds | None:
    """Give whole files, in an order in which workers share little."""
    return TwoEnds(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; a file's own tests stay in their order."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        for name, reason in KNOWN_FLAKY.items():
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=reason))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--by-subject", action="store_true", help="seconds and tests of each folder")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("by_subject"):
        return
    reports = [one for some in terminalreporter.stats.values() for one in some]
    durations = [
        (one.nodeid, one.when, one.duration)
        for one in reports
        if isinstance(one, pytest.TestReport)
    ]
    terminalreporter.section("seconds and tests by subject")
    for line in lines(durations):
        terminalreporter.write_line(line)


def _make_wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str],
    *,
    version: str = "1.0",
    entry_points: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
) -> Path:
    """Write a pure-Python wheel (PEP 427) that pip installs."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {text}" for text in requires]
    content = dict(files)
    content[f"{info}/METADATA"] = "\n".join(metadata) + "\n"
    content[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines: list[str] = []
    for group, points in (("lean_dojo", entry_points), ("lean_dojo.kinds", kinds)):
        if points:
            lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    if lines:
        content[f"{info}/entry_points.txt"] = "\n".join(lines) + "\n"
    record = []
    for path, text in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    content[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
    return wheel


@pytest.fixture(scope="session")
def make_wheel() -> WheelMaker:
    return _make_wheel


@pytest.fixture(scope="session")
def pip_target() -> Callable[[Path, Sequence[Path]], Mapping[str, str]]:
    """Install wheels into a folder with pip; give the environment in which they are found."""

    def install(folder: Path, wheels: Sequence[Path]) -> Mapping[str, str]:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
        ]
        subprocess.run(
            [*command, "--disable-pip-version-check", "--target", str(folder), *map(str, wheels)],
            check=True,
        )
        return clean_environment(PYTHONPATH=str(folder))

    return install


def clean_environment(**changes: str) -> dict[str, str]:
    """The process's environment without what steers plugins and output."""
    ours = ("LEAN_DOJO_", "_LEAN_DOJO", "NO_COLOR", "FORCE_COLOR", "RAID_DIR", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**kept, "COLUMNS": "80", "OMP_NUM_THREADS": "1", **changes}


@pytest.fixture(scope="session")
def environment() -> Callable[..., dict[str, str]]:
    return clean_environment


@pytest.fixture(scope="session")
def chromium() -> Chromium:
    """A Chromium; fetched from npm where the machine has none."""
    from chromium import find_chromium

    return find_chromium()


@pytest.fixture(scope="module")
def browser(chromium: Chromium) -> Iterator[Browser]:
    """A headless browser. It holds the thread's event loop, so it does not outlive its module."""
    from chromium import launch
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, launch(driver, chromium) as started:
        yield started


@pytest.fixture(scope="session")
def wheel_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the built wheel; its dependencies are those of this environment.

    They come by a path file, which does not bring this environment's editable install along. Its
    ``pip`` is this environment's.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    root = str(Path(__file__).parents[1])
    subprocess.run([*build, root], check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    home = folder / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = home / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{python}" "$@"\n')
    pip.chmod(0o755)
    install = [str(pip), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return home


@pytest.fixture(scope="session")
def engine() -> Iterator[Server]:
    """One embedded engine for all tests that leave it as they found it."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server


@pytest.fixture
def fresh_engine() -> Iterator[Server]:
    """An embedded engine that is as new, and that a test may kill."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server


TINY = """\
namespace Tiny

theorem and_swap (p q : Prop) (h : p ∧ q) : q ∧ p := by
  constructor
  · exact h.2
  · exact h.1

theorem add_zero' (n : Nat) : n + 0 = n := by
  simp

theorem self_imp (p : Prop) (hp : p) : p := by
  exact hp

theorem or_left (p q : Prop) (hp : p) : p ∨ q := by
  left
  exact hp

theorem two (n : Nat) (h : n = 2) : n + 1 = 3 := by
  rw [h]

theorem trans' (a b c : Nat) (hab : a = b) (hbc : b = c) : a = c := by
  rw [hab]
  exact hbc

theorem uses_swap (p q : Prop) (hp : p) (hq : q) : q ∧ p := by
  apply and_swap
  exact ⟨hp, hq⟩

theorem uses_imp (p : Prop) (hp : p) : p := by
  exact self_imp p hp

theorem uses_or (p q : Prop) (hp : p) : p ∨ q := by
  exact or_left p q hp

theorem uses_trans (a b : Nat) (h : a = b) : a = b := by
  exact trans' a b b h rfl

theorem gap_pair (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  sorry

theorem gap_false : 1 = 2 := by
  sorry

end Tiny
"""
TINY_DOS = """\
import Tiny.Basic

/-- A file with the line ends of Windows. -/
theorem gap_chain (p q r : Prop)
    (hpq : p → q) (hqr : q → r) (hp : p) : r := by
  -- nothing yet
  sorry

theorem gap_term (n : Nat) : n = n := sorry
"""


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A byte-level T5 of one layer: the folders of a generator and of an encoder."""
    from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=384, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_decoder_layers=1,
        num_heads=2, feed_forward_proj="gated-gelu", decoder_start_token_id=0,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("t5")
    T5ForConditionalGeneration(config).save_pretrained(folder / "generator")
    T5EncoderModel(config).save_pretrained(folder / "encoder")
    return folder / "generator", folder / "encoder"


def made_once(
    factory: pytest.TempPathFactory, worker: str, name: str, make: Callable[[Path], None]
) -> Path:
    """Give a folder that ``make`` fills once for all workers; it is theirs to read."""
    base = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    folder = base / name
    with filelock.FileLock(base / f"{name}.lock"):
        if not folder.exists():
            making = base / f"{name}.making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            make(making)
            making.rename(folder)
    return folder


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, Callable[[Path], None]], Path]:
    """Make a folder once for all workers: ``once(name, make)``; copy it to change it."""
    return functools.partial(made_once, tmp_path_factory, worker_id)


@pytest.fixture(scope="session")
def tiny_repository(once: Once) -> tuple[Path, str]:
    """A Lean project in a git repository, and its commit; nothing writes into it."""
    folder = once("lean4-tiny", _write_tiny_repository)
    shown = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(shown, cwd=folder, check=True, capture_output=True, text=True)
    return folder, done.stdout.strip()


def _write_tiny_repository(folder: Path) -> None:
    (folder / "Tiny").mkdir(parents=True)
    (folder / "lakefile.toml").write_text('name = "tiny"\n[[lean_lib]]\nname = "Tiny"\n')
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    (folder / "Tiny.lean").write_text("import Tiny.Basic\nimport Tiny.Dos\n")
    (folder / "Tiny" / "Basic.lean").write_text(TINY, encoding="utf-8")
    (folder / "Tiny" / "Dos.lean").write_bytes(TINY_DOS.replace("\n", "\r\n").encode())
    git = ["git", "-c", "user.name=Emmy", "-c", "user.email=emmy@example.org"]
    origin = ["remote", "add", "origin", "https://example.org/lean/lean4-tiny"]
    date = "2026-11-01T12:00:00Z"  # the same commit, and so the same splits, every time
    dated = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    for words in (["init", "-q"], origin, ["add", "."], ["commit", "-q", "-m", "A start"]):
        subprocess.run([*git, *words], cwd=folder, check=True, env=dated)


@pytest.fixture(scope="module")
def project_engine(tiny_repository: tuple[Path, str]) -> Iterator[Server]:
    """An engine that may read the tiny repository, for tests that leave it as they found it."""
    with Server(project_path=tiny_repository[0], engine="embedded", timeout=60) as server:
        yield server


@pytest.fixture(scope="session")
def tiny_database(tiny_repository: tuple[Path, str], once: Once) -> Path:
    """The database of the tiny repository, traced by real Lean; copy it to change it."""
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

    def trace(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAID_DIR", str(folder / "raid"))
            traced = trace_repository(LeanGitRepo.from_path(tiny_repository[0]), jobs=1)
        with DynamicDatabase(folder / "database.json") as database:
            database.add_repository(traced)

    return once("traced-tiny", trace) / "database.json"


@pytest.fixture(scope="session")
def tiny_cache(tiny_database: Path) -> Path:
    """The data folder in which the tiny repository was traced: who copies it traces nothing anew."""
    return tiny_database.with_name("raid")
