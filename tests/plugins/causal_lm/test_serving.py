"""A server that the user's command starts: waited for, logged, and ended with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import httpx
import psutil
import pytest
from processes import is_over

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.generate import serving
from lean_dojo_plugins.causal_lm.generate.serving import check_command, model_server

SCRIPT = Path(__file__).parents[2] / "answering_server.py"
LONG = 30.0


@pytest.fixture
def command():
    return f"NAMED=yes {sys.executable} -S {SCRIPT} {{model}} {{port}}"


def pids(log: Path) -> list[int]:
    return [int(one) for one in log.read_text().partition("pids ")[2].split()[:2]]


def gone(numbers: list[int]) -> bool:
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        if all(map(is_over, numbers)):
            return True
        time.sleep(0.1)
    return False


def test_it_answers_and_ends_with_what_it_started(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RANK", "1")
    log = tmp_path / "rounds" / "server.log"
    with model_server(command, "a model/it's", log, timeout=LONG) as address:
        assert httpx.get(f"{address}/models", trust_env=False).status_code == 200
        assert len(pids(log)) == 2
        assert all(psutil.pid_exists(one) for one in pids(log))
    assert gone(pids(log))
    assert "serving a model/it's RANK=None" in log.read_text()
    assert "the model's server answers after" in capsys.readouterr().err
    with (
        pytest.raises(KeyboardInterrupt),
        model_server(command, "again", log, timeout=LONG),
    ):
        raise KeyboardInterrupt
    assert "serving again" in log.read_text()


def test_one_that_does_not_heed_the_signal(command, tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "_TO_END", 0.5)
    log = tmp_path / "server.log"
    with model_server(f"trap '' TERM; {command}", "a-model", log, timeout=LONG):
        pass
    assert gone(pids(log))


def test_one_that_does_not_start(tmp_path, monkeypatch, capsys):
    log = tmp_path / "server.log"
    with (
        pytest.raises(UsageError, match=r"(?s)exit code 3 before it answered.*no such model: m"),
        model_server("echo no such model: {model}; exit 3; {port}", "m", log, timeout=LONG),
    ):
        raise AssertionError("not started")
    monkeypatch.setattr(serving, "_SAID_AGAIN", 0.5)
    with (
        pytest.raises(UsageError, match=r"did not answer .* within 1\.5 s; raise server_timeout"),
        model_server("sleep 600; {model} {port}", "m", log, timeout=1.5),
    ):
        raise AssertionError("not started")
    assert "waiting for the model's server, 1 s so far" in capsys.readouterr().err


def test_it_ends_with_a_process_that_is_killed(command, tmp_path):
    log = tmp_path / "server.log"
    code = (
        "import pathlib, sys, time\n"
        "from lean_dojo_plugins.causal_lm.generate.serving import model_server\n"
        f"with model_server({command!r}, 'm', pathlib.Path({str(log)!r}), timeout={LONG}):\n"
        "    print('up', flush=True)\n"
        "    time.sleep(600)\n"
    )
    trainer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert trainer.stdout.readline() == "up\n"
    os.kill(trainer.pid, signal.SIGKILL)
    trainer.wait()
    trainer.stdout.close()
    assert gone(pids(log))


@pytest.mark.parametrize("asked", [is_over, serving._is_over])
def test_a_process_that_ends_between_two_questions_is_over(asked, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        assert not asked(process)

        for error in (psutil.NoSuchProcess(child.pid), psutil.ZombieProcess(child.pid)):
            with monkeypatch.context() as patch:
                patch.setattr(psutil.Process, "status", Mock(side_effect=error))
                assert asked(process)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert asked(process)  # a zombie
    assert asked(process)
    assert is_over(child.pid)


def test_what_the_command_must_say():
    check_command("vllm serve {model} --port {port}")
    with pytest.raises(ConfigError, match=r"\{port\} must stand in it"):
        check_command("vllm serve {model}")
