"""Engines that hang, die or outgrow their memory, and programs that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.embedded import launch
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineMemoryError,
    EngineTimeoutError,
    ServerError,
    StaleStateError,
)
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.lean.verify.tactics import check_tactic

ENDLESS = "partial def loop (n : Nat) : Nat := loop (n + 1)\n#eval loop 0"
BOMB = "#eval (Array.replicate 400000000 0).size"


@pytest.mark.slow
def test_an_engine_lost_in_any_way_is_replaced_at_the_next_call(fresh_engine, gone):
    server = fresh_engine
    state = server.goal_start("True")
    first = server.pid
    assert first is not None
    with pytest.raises(EngineTimeoutError, match="within 1 s"):
        server.check_compile(ENDLESS, timeout=1)
    assert gone(first)
    with pytest.raises(StaleStateError):
        server.goal_tactic(state, "trivial")

    assert server.goal_start("True").goals
    second = server.pid
    assert second is not None
    threading.Timer(0.5, os.kill, (second, signal.SIGKILL)).start()
    with pytest.raises(EngineDiedError, match="SIGKILL"):
        server.check_compile(ENDLESS, timeout=30)
    assert server.goal_tactic(server.goal_start("True"), "trivial").is_solved


@pytest.mark.slow
def test_a_tactic_at_a_state_of_a_lost_engine_is_not_refused_by_lean(fresh_engine, gone):
    """Neither by the one that has to start, nor by its successor, which may have such a number."""
    server = fresh_engine
    state = server.goal_start("True")
    for restarted in (False, True):
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        if restarted:
            assert server.goal_start("False").state_id == state.state_id
        outcome = check_tactic(server, state, "trivial")
        assert (outcome.verdict, outcome.engine_died) == (Verdict.TIMED_OUT, True), outcome.detail
        with pytest.raises(StaleStateError):
            server.parse_tactic("trivial", state)
        server.stat()


@pytest.mark.slow
def test_a_memory_bomb_meets_the_limit_and_the_pool_lives_on():
    def bomb(server: Server) -> str:
        return server.check_compile(BOMB)[0].messages[0].data

    def fair(server: Server) -> bool:
        return server.goal_tactic(server.goal_start("True"), "trivial").is_solved

    with EnginePool(PoolConfig(size=1, memory_limit_mb=1500)) as pool:
        bad = pool.submit(bomb, name="the bomb")
        good = [pool.submit(fair) for _ in range(3)]
        # The kernel's limit or our own watch, whichever is first.
        limit = "out of memory|its limit is 1500 MB"
        with pytest.raises(ServerError, match=rf"the bomb killed 2 engines(?s:.*)({limit})"):
            bad.result()
        assert all(future.result() for future in good)


@pytest.mark.slow
def test_memory_is_watched_where_the_kernel_does_not(monkeypatch):
    monkeypatch.setattr(launch, "DATA_OVERHEAD_MB", 10_000)
    with (
        Server(engine="embedded", memory_limit_mb=1300) as server,
        pytest.raises(EngineMemoryError, match="its limit is 1300 MB"),
    ):
        server.check_compile(BOMB)


@pytest.mark.slow
def test_a_busy_engine_ends_when_its_program_is_killed(gone):
    code = (
        "import sys\nfrom lean_dojo_v2.lean import Server\n"
        "server = Server(engine='embedded')\nprint(server.pid, flush=True)\n"
        f"server.check_compile({ENDLESS!r})"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    time.sleep(1)
    program.kill()
    program.communicate()
    assert gone(pid)
