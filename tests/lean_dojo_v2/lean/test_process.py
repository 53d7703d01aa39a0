"""One engine process, driven with small programs that behave badly in every way."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time

import pytest

from lean_dojo_v2.lean.engines.process import LOG_LIMIT, Capabilities, EngineProcess, LaunchPlan
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    EngineMemoryError,
    EngineProtocolError,
    EngineTimeoutError,
    EngineUnavailableError,
)

ECHO = """
    print("ready.", flush=True)
    for line in sys.stdin:
        print(line, end="", flush=True)
"""


def plan(script: str) -> LaunchPlan:
    code = "import sys, os, time\n" + textwrap.dedent(script)
    return planned(sys.executable, "-c", code)


def planned(*argv: str) -> LaunchPlan:
    return LaunchPlan("native", argv, dict(os.environ), "test engine", Capabilities(True, False))


def test_a_request_is_one_line_and_its_answer_is_one_line():
    process = EngineProcess(plan(ECHO))
    assert process.request(b"one", 10) == b"one"
    assert process.request("∀ ⟨x⟩".encode(), 10).decode() == "∀ ⟨x⟩"
    process.close()
    assert not process.alive


def test_a_fork_leaves_an_engine_alone_that_only_another_thread_holds():
    """The child drops what other threads held before any hook of ours runs there."""
    held, answers = threading.local(), []
    opened, forked = threading.Event(), threading.Event()

    def work() -> None:
        held.process = EngineProcess(plan(ECHO))
        opened.set()
        forked.wait()
        answers.append(held.process.request(b"one", 10))
        held.process.close()

    thread = threading.Thread(target=work)
    thread.start()
    opened.wait()
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
    forked.set()
    thread.join()
    assert answers == [b"one"]


def test_a_request_larger_than_any_pipe_goes_both_ways():
    process = EngineProcess(plan(ECHO))
    line = b"x" * 5_000_000
    assert process.request(line, 30) == line
    process.close()


def test_a_process_that_does_not_read_its_input_still_times_out():
    process = EngineProcess(plan("print('ready.', flush=True); time.sleep(100)"))
    with pytest.raises(EngineTimeoutError, match=r"did not answer within 0.3 s"):
        process.request(b"x" * 5_000_000, 0.3)
    assert not process.alive


def test_death_says_how_and_quotes_the_last_words(gone):
    script = """
        print("ready.", flush=True)
        sys.stdin.readline()
        sys.stderr.write("y" * 100_000 + "INTERNAL PANIC: unreachable")
        sys.stderr.flush()
        os._exit(3)
    """
    process = EngineProcess(plan(script))
    with pytest.raises(EngineDiedError) as caught:
        process.request(b"go", 10)
    message = str(caught.value)
    assert "test engine ended with exit status 3" in message
    assert message.endswith("INTERNAL PANIC: unreachable")
    assert len(message) < LOG_LIMIT
    assert gone(process.pid)


def test_an_engine_that_says_it_is_out_of_memory_is_believed():
    script = """
        print("ready.", flush=True)
        sys.stdin.readline()
        sys.exit("INTERNAL PANIC: out of memory")
    """
    process = EngineProcess(plan(script))
    with pytest.raises(EngineMemoryError, match=r"exit status 1(?s:.*)out of memory"):
        process.request(b"go", 10)


def test_a_kill_from_outside_names_the_signal():
    process = EngineProcess(plan("print('ready.', flush=True); time.sleep(100)"))
    threading.Timer(0.3, os.kill, (process.pid, signal.SIGKILL)).start()
    with pytest.raises(EngineDiedError, match=r"was killed by SIGKILL"):
        process.request(b"go", 10)


def test_the_whole_process_group_ends_with_it(gone):
    script = """
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        print("ready.", flush=True)
        sys.stdin.readline()
        print(child.pid, flush=True)
        time.sleep(100)
    """
    process = EngineProcess(plan(script))
    child = int(process.request(b"pid", 10))
    process.close()
    assert gone(process.pid)
    assert gone(child)


def test_a_log_that_nobody_reads_does_not_block_the_engine():
    script = """
        print("ready.", flush=True)
        for line in sys.stdin:
            sys.stderr.write("noise\\n" * 100_000)
            print("answer", flush=True)
    """
    process = EngineProcess(plan(script))
    for _ in range(3):
        assert process.request(b"go", 10) == b"answer"
    assert len(process.log_tail) <= LOG_LIMIT
    process.close()


def test_an_answer_to_nothing_is_never_taken_for_the_next_answer():
    script = """
        print("ready.", flush=True)
        for line in sys.stdin:
            print("answer", flush=True)
            print("forged", flush=True)
    """
    process = EngineProcess(plan(script))
    assert process.request(b"go", 10) == b"answer"
    time.sleep(0.2)
    with pytest.raises(EngineProtocolError, match=r"sent unexpected output: 'forged"):
        process.request(b"go", 10)
    assert not process.alive


def test_an_endless_answer_ends_at_its_limit():
    script = """
        print("ready.", flush=True)
        sys.stdin.readline()
        while True:
            sys.stdout.write("x" * 10_000)
    """
    process = EngineProcess(plan(script), answer_limit=1_000_000)
    with pytest.raises(EngineProtocolError, match="more than 1000000 bytes"):
        process.request(b"go", 10)


def test_memory_is_watched_during_a_request(gone):
    script = """
        print("ready.", flush=True)
        sys.stdin.readline()
        hoard = [bytearray(1 << 20) for _ in range(400)]
        time.sleep(100)
    """
    process = EngineProcess(plan(script), memory_limit_mb=200)
    with pytest.raises(EngineMemoryError, match="its limit is 200 MB"):
        process.request(b"go", 30)
    assert gone(process.pid)


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        ("print('Lean version mismatch')", EngineProtocolError, "Lean version mismatch"),
        ("sys.exit('no such module')", EngineDiedError, "no such module"),
        ("time.sleep(100)", EngineTimeoutError, r"within 0.5 s \(while it started\)"),
    ],
)
def test_an_engine_that_does_not_start_is_reported_and_stopped(script, error, said):
    with pytest.raises(error, match=said):
        EngineProcess(plan(script), start_timeout=0.5 if "sleep" in script else 10)


def test_a_program_that_is_not_there_is_unavailable():
    absent = planned("/nowhere/pantograph-repl")
    with pytest.raises(EngineUnavailableError, match="/nowhere/pantograph-repl"):
        EngineProcess(absent)


def test_kill_from_another_thread_ends_a_request():
    process = EngineProcess(plan("print('ready.', flush=True); time.sleep(100)"))
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(EngineLostError):
        process.request(b"go", 30)


def test_a_dropped_process_is_stopped(gone):
    process = EngineProcess(plan(ECHO))
    pid = process.pid
    del process
    assert gone(pid)
