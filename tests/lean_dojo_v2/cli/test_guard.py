"""Plugins and rewards that end the program, or break it for everybody: said, and not code 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from lean_dojo_core import foreign
from lean_dojo_core.errors import PluginError
from lean_dojo_plugins.rewards.adapter import adapt
from lean_dojo_plugins.rewards.resolve import resolve_rewards
from lean_dojo_v2.errors import RewardError

Environment = Callable[..., dict[str, str]]
COMPLETIONS = '{"completion": "simp"}\n'


@pytest.fixture
def program(environment: Environment, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start `lean-dojo …` with a single-file plugin and a module of rewards in its folder."""

    def start(
        *arguments: str, plugin: str = "", reward: str = "", **options: int
    ) -> subprocess.Popen[str]:
        config = tmp_path / "config"
        config.mkdir()
        (config / "lean_dojo_plugins.py").write_text(plugin)
        (tmp_path / "mine.py").write_text(reward)
        (tmp_path / "completions.jsonl").write_text(COMPLETIONS)
        return subprocess.Popen(
            [sys.executable, "-m", "lean_dojo_v2", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment(LEAN_DOJO_CONFIG_DIR=str(config)),
            **options,
        )

    return start


ENDINGS = {
    "os._exit": ("import os; os._exit(0)", 70, "was ended unexpectedly (exit code 0)"),
    "with a code": ("import os; os._exit(3)", 3, "was ended unexpectedly"),
    "closed descriptors": ("import os; os.closerange(0, 4096)", 70, "was ended unexpectedly"),
    "a crash": ("import ctypes; ctypes.string_at(0)", 139, "crashed (SIGSEGV)"),
}


@pytest.mark.parametrize("which", ENDINGS)
def test_a_plugin_that_ends_the_program_is_said(program, which):
    body, code, said = ENDINGS[which]
    process = program("plugins", plugin=body)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == code
    assert said in errors
    assert errors.startswith("Error: the program ")
    if which != "closed descriptors":
        assert "by plugin lean_dojo_plugins.py:lean_dojo_plugins" in errors


STUBBORN = """
import time
from lean_dojo_core import foreign
foreign.SAY_AFTER = 0.5

def score(completions, **_):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""


@pytest.mark.slow
def test_a_reward_that_hangs_and_cannot_be_interrupted_ends_the_program(program):
    limit = ("--timeout", "1")
    process = program("reward", "score", "mine:score", "completions.jsonl", *limit, reward=STUBBORN)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "reward 'score' of mine has run for more than 1 s and cannot be interrupted" in errors


BROKEN = {
    "import json; json.dumps = lambda *a, **k: ''": "has replaced json.dumps",
    "import json; json.loads = None": "has replaced json.loads",
    "import builtins; builtins.open = None": "has replaced builtins.open",
    "import os; os.closerange(1, 3)": "has closed stdout and closed stderr",
}


@pytest.mark.parametrize("body", BROKEN)
def test_a_plugin_that_breaks_something_for_all_fails_alone(program, body):
    process = program("plugins", "--json", plugin=body)
    listing, errors = process.communicate(timeout=300)
    assert process.returncode == 0
    assert BROKEN[body] in errors + listing
    assert '"name": "sft"' in listing


@pytest.mark.parametrize("body", BROKEN)
def test_a_reward_that_breaks_something_for_all_is_an_error(body):
    def score(completions, **_):
        exec(body)
        return [1.0 for _ in completions]

    with pytest.raises(RewardError, match=BROKEN[body]):
        adapt(score, name="mine")(["simp"])
    assert open(os.devnull).close() is None  # noqa: PTH123


def test_the_current_folder_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wanders_1.py").write_text(
        "import os\nos.chdir('/')\n\ndef score(completions, **_):\n"
        "    os.chdir('/')\n    return [1.0 for _ in completions]\n"
    )
    [reward] = resolve_rewards("wanders_1:score")
    assert reward(["simp"]) == [1.0]
    assert Path.cwd() == tmp_path


def test_a_plugin_is_loaded_in_the_thread_that_asks_even_without_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert foreign.load(threading.current_thread, "plugin") is threading.current_thread()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_plugin_that_does_not_finish_loading_fails(monkeypatch, capsys):
    for name, seconds in (("SAY_AFTER", 0.1), ("SAY_AGAIN", 5.0), ("LOADING", 0.3)):
        monkeypatch.setattr(foreign, name, seconds)
    with pytest.raises(PluginError, match=r"has not been loaded in 0\.3 s"):
        foreign.load(threading.Event().wait, "plugin slow")
    assert capsys.readouterr().err == "loading plugin slow has run for 0 s\n"


def test_nothing_is_said_of_code_that_behaves():
    with foreign.contained("nobody"):
        pass
    with pytest.raises(PluginError, match="somebody has replaced"), foreign.contained("somebody"):
        vars(__import__("json"))["dumps"] = print


WAITS = "import sys, time; print('here', file=sys.stderr, flush=True); time.sleep(600)"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_signal_ends_both_processes(program, name):
    process = program("plugins", plugin=WAITS)
    assert process.stderr is not None
    assert process.stderr.readline() == "here\n"
    [child] = psutil.Process(process.pid).children()
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=300)
    assert process.returncode == (130 if name == "SIGINT" else -getattr(signal, name))
    psutil.wait_procs([child], timeout=60)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
