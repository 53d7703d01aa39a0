"""Real engines, shared by the tests of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from lean_dojo_v2.lean.embedded.launch import ensure_installed
from lean_dojo_v2.lean.server import Server


@pytest.fixture(scope="session")
def engine() -> Iterator[Server]:
    """One embedded engine for all tests that leave it as they found it."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server


@pytest.fixture
def fresh_engine() -> Iterator[Server]:
    """An embedded engine that a test may kill."""
    ensure_installed()
    with Server(engine="embedded", timeout=60) as server:
        yield server


@pytest.fixture
def gone() -> Callable[[int], bool]:
    """Whether a process is gone (waits up to 10 s for it)."""

    def check(pid: int) -> bool:
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            process.wait(timeout=10)
        except psutil.NoSuchProcess:
            return True
        except psutil.TimeoutExpired:
            return process.status() == psutil.STATUS_ZOMBIE
        return True

    return check


@pytest.fixture
def repl(tmp_path: Path) -> Path:
    """An executable that speaks Pantograph's protocol: the embedded engine behind a shell script.

    It takes the arguments of ``pantograph-repl``: modules, then ``--name=value``.
    """
    import shlex

    from lean_dojo_v2.lean.embedded.launch import embedded_plan

    plan = embedded_plan([])
    script = tmp_path / "bin" / "pantograph-repl"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(plan.argv)} "$@"\n')
    script.chmod(0o755)
    return script
