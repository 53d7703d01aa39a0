"""A checkpoint that is being written when the process is killed; see also training/test_killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import torch

SHARED_MEMORY = Path("/dev/shm")
SAVE = """
import sys
import torch
from lean_dojo_v2.lean_agent.config import TrainingConfig
trainer = TrainingConfig.from_json(sys.argv[2]).create_trainer("x", "log")
checkpoint = {"state": torch.ones(50_000_000)}
trainer.strategy.checkpoint_io.save_checkpoint(checkpoint, sys.argv[3])
"""


def start(tmp_path, config, code, *arguments, **changes):
    config.to_json(tmp_path / "config.json")
    script = tmp_path / "script.py"
    script.write_text(code)
    return subprocess.Popen(
        [
            sys.executable,
            str(script),
            str(tmp_path / "database.json"),
            str(tmp_path / "config.json"),
            *map(str, arguments),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", **changes},
    )


def kill_when(process, happened):
    deadline = time.monotonic() + 300
    while not happened():
        assert process.poll() is None, "it finished before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_while_a_checkpoint_is_written_it_stays_whole(make_config, tmp_path):
    """Temporary files lie on another file system where there is one, as on many clusters."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    path = folder / "last.ckpt"
    torch.save({"state": torch.zeros(9)}, path)
    size = path.stat().st_size
    other_file_system = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=other_file_system) as elsewhere:
        process = start(tmp_path, make_config(), SAVE, path, TMPDIR=elsewhere)
        kill_when(process, lambda: len(list(folder.iterdir())) > 1 or path.stat().st_size != size)
    assert len(torch.load(path, weights_only=True)["state"]) in {9, 50_000_000}
