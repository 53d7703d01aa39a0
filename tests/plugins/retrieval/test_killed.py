"""Killed at any moment, the same call goes on and ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from lean_dojo_plugins.retrieval.runs import Run
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer

SHARED_MEMORY = Path("/dev/shm")
TRAIN = """
import sys
from pathlib import Path
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer
database = DynamicDatabase(sys.argv[1])
repos = sorted(database.repositories, key=lambda repo: repo.name)
RetrievalTrainer(TrainingConfig.from_json(sys.argv[2])).train(repos, database)
"""
DIES_WITH_ITS_ROW = """
import os, signal
from lean_dojo_v2.runs.forgetting import Forgetting
write = Forgetting.write
def dies(self, folder):
    if len(self.steps) == int(os.environ["ROWS"]):
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, folder)
Forgetting.write = dies
"""
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


def finished(trainer):
    return [trainer.output_dir / name for name in Run.last(trainer.output_dir).finished]


def forgetting(trainer):
    return json.loads((trainer.output_dir / "forgetting.json").read_text())


def test_inside_an_epoch_the_same_call_gives_the_same_model(
    database, repos, make_config, tmp_path, caplog
):
    def config(name):
        return make_config(
            max_epochs=3, lr=1e-3, checkpoint_every_n_steps=2, checkpoint_dir=tmp_path / name
        )

    whole = RetrievalTrainer(config("whole"))
    whole.train(repos, database)

    killed = config("killed")
    process = start(tmp_path, killed, TRAIN)
    inside = tmp_path / "killed" / "run001-001-owner_beta"
    kill_when(process, lambda: list(inside.glob("inside-*.ckpt")))
    # What a kill inside a copy or a write leaves: the newest checkpoint is cut off.
    cut_off = inside / "inside-epoch=9-step=99.ckpt"
    cut_off.write_bytes(next(inside.glob("inside-*.ckpt")).read_bytes()[:-1000])
    leftover = inside / ".last.ckpt.1-abcd.tmp"
    leftover.write_bytes(b"half")

    trainer = RetrievalTrainer(killed)
    assert Run.last(trainer.output_dir).finished, "the first repository is finished"
    first = finished(trainer)[0].stat().st_mtime_ns
    trainer.train(repos, database)
    assert f"{cut_off} is passed over: it is broken" in caplog.text
    assert not leftover.exists()
    assert finished(trainer)[0].stat().st_mtime_ns == first, "it was not trained again"
    one, two = (torch.load(finished(t)[1], weights_only=True) for t in (whole, trainer))
    assert one["global_step"] == two["global_step"]
    for name, value in one["state_dict"].items():
        assert torch.allclose(value, two["state_dict"][name], atol=1e-6), name


def test_in_the_look_back_its_row_is_made_up_for(database, repos, make_config, tmp_path):
    whole = RetrievalTrainer(make_config(checkpoint_dir=tmp_path / "whole"))
    whole.train(repos, database)

    killed = make_config(checkpoint_dir=tmp_path / "killed")
    trainer = RetrievalTrainer(killed)
    written = []
    for step in range(2):
        process = start(tmp_path, killed, DIES_WITH_ITS_ROW + TRAIN, ROWS=str(step + 1))
        assert process.wait() == -signal.SIGKILL
        assert len(finished(trainer)) == step
        (saved,) = trainer.output_dir.glob(f"run001-{step:03d}-*/finished*.ckpt")
        written.append(saved.stat().st_mtime_ns)
    trainer.train(repos, database)
    assert [path.stat().st_mtime_ns for path in finished(trainer)] == written, "trained again"
    assert forgetting(trainer) == forgetting(whole)


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
