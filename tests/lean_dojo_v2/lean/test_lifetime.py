"""No engine outlives the program that started it, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineDiedError, StaleStateError

PROGRAM = """
import os, sys, threading, time
from lean_dojo_v2.lean import EnginePool, PoolConfig, Server

server = Server(engine="native", timeout=100)
pool = EnginePool(PoolConfig(size=1, engine="native"))
other = pool.submit(lambda server: (server.stat(), server.pid)[1]).result()
print(server.pid, other, flush=True)
{ending}
"""

ENDINGS = {
    "falls off the end": "",
    "raises": "raise RuntimeError('oops')",
    "exits": "sys.exit(3)",
    "exits while a thread waits for Lean": (
        "threading.Thread(target=server.run, args=('sleep', {'seconds': 60}), daemon=True).start()"
        "\ntime.sleep(0.5)"
    ),
    "exits while the pool works": (
        "pool.submit(lambda server: server.run('sleep', {'seconds': 60}))\ntime.sleep(0.5)"
    ),
    "is interrupted": "os.kill(os.getpid(), __import__('signal').SIGINT)\ntime.sleep(60)",
    "is terminated": "os.kill(os.getpid(), __import__('signal').SIGTERM)\ntime.sleep(60)",
    "is killed": "os.kill(os.getpid(), __import__('signal').SIGKILL)",
    "vanishes": "os._exit(0)",
}


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_engines_end_with_the_program(ending, mini_repl, gone):
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(ending=ENDINGS[ending])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    pids = [int(word) for word in program.stdout.readline().split()]
    error = program.communicate(timeout=50)[1]  # the programs themselves would sleep for 60 s
    assert len(pids) == 2, error
    assert all(gone(pid) for pid in pids)


def test_a_closed_server_starts_again_at_the_next_call(mini_repl, gone):
    server = Server(engine="native")
    first = server.pid
    state = server.goal_start("True")
    server.close()
    assert server.pid is None
    assert first is not None
    assert gone(first)
    with pytest.raises(StaleStateError, match="belongs to an engine that is gone"):
        server.goal_tactic(state, "trivial")
    with pytest.raises(StaleStateError):
        server.ask("dojo.digest", {"stateId": state})
    assert server.stat() == {"resets": 0}
    assert server.pid not in {None, first}
    server.close()


def test_a_retired_server_stays_closed(mini_repl):
    server = Server(engine="native")
    server.retire()
    with pytest.raises(EngineDiedError, match="cannot be used again"):
        server.stat()


def test_a_state_of_another_server_is_refused(mini_repl):
    with Server(engine="native") as one, Server(engine="native") as two:
        state = one.goal_start("True")
        with pytest.raises(StaleStateError, match="another server"):
            two.goal_tactic(state, "trivial")


def test_a_replacement_has_the_headers_and_definitions_of_the_lost_engine(mini_repl, gone):
    with Server(engine="native") as server:
        server.load_definitions("def gone := 1")
        server.load_header("import Std")
        server.load_definitions("def kept := 1")
        assert server.pid is not None
        pid = server.pid
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        assert server.run("loaded", {}) == {"loaded": ["import Std", "def kept := 1"]}
        server.restart()
        assert server.run("loaded", {}) == {"loaded": []}


def test_what_only_the_native_engine_does_goes_through(mini_repl, tmp_path):
    with Server(engine="native") as server:
        saved = server.goal_start("True")
        server.goal_save(saved, tmp_path / "state")
        loaded = server.goal_load(tmp_path / "state")
        assert [goal.target for goal in loaded.goals] == ["True"]
        assert server.to_remove_goal_states == []
        result = server.check_track("def f : Nat := sorry", "")
        assert not result.succeeded
        assert result.failure == "f is not there"


def test_a_server_is_closed_when_its_block_raises(mini_repl, gone):
    def fail(server: Server) -> None:
        pids.append(server.pid)
        raise RuntimeError

    pids: list[int | None] = []
    with pytest.raises(RuntimeError), Server(engine="native") as server:
        fail(server)
    (pid,) = pids
    assert pid is not None
    assert gone(pid)


def test_threads_take_turns(mini_repl):
    answers: list[object] = []
    with Server(engine="native") as server:

        def work(number: int) -> None:
            for step in range(50):
                text = f"thread {number} step {step}"
                answers.append(server.goal_start(text).goals[0].target == text)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [True] * 400


def _in_child(server: Server, queue: multiprocessing.Queue[int | None]) -> None:
    server.stat()
    queue.put(server.pid)
    server.close()


def test_a_forked_child_has_an_engine_of_its_own(mini_repl, gone):
    with Server(engine="native") as server:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(server, queue))
        child.start()
        child_engine = queue.get(timeout=20)
        child.join(timeout=20)
        assert child_engine not in {None, server.pid}
        assert gone(child_engine)
        assert server.stat() == {"resets": 0}
