"""What a training run prints: messages and, on a terminal, one bar; nothing on standard output."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

Environment = Callable[..., dict[str, str]]


@pytest.fixture
def command(traced: Path, tiny_model: Path, tmp_path: Path) -> list[str]:
    (tmp_path / "database.json").write_bytes(traced.read_bytes())
    settings = {
        "model_name": tiny_model,
        "output_dir": tmp_path / "out",
        "trainer_args.max_steps": 2,
        "report_to": "none",
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    places = ["--database", str(tmp_path / "database.json"), "--data-path", str(tmp_path / "data")]
    return [
        *(sys.executable, "-m", "lean_dojo_v2", "train", "sft", "--repo", "lean/one"),
        *places,
        *given,
    ]


def read(descriptor: int, into: list[bytes]) -> None:
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # Linux: the other end is closed
            return
        if not part:
            return
        into.append(part)


@pytest.mark.slow
def test_on_a_terminal_a_bar_and_no_dictionaries(
    command: list[str], environment: Environment
) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown: list[bytes] = []
    reader = threading.Thread(target=read, args=(ours, shown))
    reader.start()
    ran = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(TERM="xterm", HF_HUB_OFFLINE="1"),
        check=False,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    text = b"".join(shown).decode()
    assert ran.returncode == 0, text
    assert ran.stdout == b""
    assert re.search(r"2/2 \[.*loss=\d", text)
    assert "{'loss'" not in text
    bars = [line for line in re.split(r"[\r\n]+", text) if "%|" in line]
    assert max(len(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)) for line in bars) <= 80


@pytest.mark.slow
def test_in_a_log_messages_alone(command: list[str], environment: Environment) -> None:
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment(HF_HUB_OFFLINE="1"),
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    # On a slow machine a silence of 30 s is broken by a line of its own.
    said = [line for line in ran.stderr.splitlines() if not line.startswith("… still working")]
    assert [line.partition(" ")[0] for line in said] == [
        "Training",
        "[1/1]",
        "[1/1]",
        "Done.",
    ]


@pytest.mark.slow
def test_a_run_that_failed_at_its_start_may_be_begun_with_other_settings(
    command: list[str], environment: Environment
) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more],
            capture_output=True,
            text=True,
            env=environment(HF_HUB_OFFLINE="1"),
            check=False,
        )

    failed = run("--set", "model_name=no-such-model")
    assert failed.returncode == 2
    assert "neither a folder here nor a model of the Hugging Face hub" in failed.stderr
    assert run().returncode == 0
    other = run("--set", "lr=1e-3")
    assert other.returncode == 2
    assert "holds a run with other settings: lr was" in other.stderr
