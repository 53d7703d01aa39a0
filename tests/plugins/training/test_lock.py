"""Two runs never work in one folder at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from accelerate import PartialState
from filelock import FileLock, Timeout

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training import run_folder as module
from lean_dojo_plugins.training.run_folder import EXPORT_LOCK, LOCK, export_lock, run_lock
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import TrainingConfig

HOLDS = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Another process that trains in the folder ``out``."""
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "out" / LOCK)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_killed_run_lets_the_next_one_in(other, tmp_path):
    refused = pytest.raises(UsageError, match="another process is training in")
    with refused, run_lock(tmp_path / "out", PartialState()):
        pass
    other.kill()
    other.wait()
    with run_lock(tmp_path / "out", PartialState()):
        pass


@pytest.mark.parametrize("name", ["sft", "expert-iteration", "progress", "retrieval"])
def test_every_trainer_leaves_the_other_run_alone(
    name, other, tmp_path, traced, tiny_model, encoder, encoder_folder, dataset_file
):
    folder, problems = tmp_path / "out", str(tmp_path / "problems.jsonl")
    Path(problems).write_text('{"name": "two", "formal_statement": "theorem two : 2 = 2"}')
    options = {
        "sft": {"model_name": tiny_model, "output_dir": folder, "resume": False},
        "expert-iteration": {
            "model_name": tiny_model, "output_dir": folder, "resume": False, "problems": [problems],
        },
        "progress": {
            "data_path": dataset_file, "model_name": encoder, "output_dir": folder, "resume": False,
        },
        "retrieval": {
            "config": TrainingConfig(
                model_name=str(encoder_folder), checkpoint_dir=folder, log_dir=tmp_path / "log",
                accelerator="cpu",
            )
        },
    }[name]  # fmt: skip
    (folder / "training_state.json").write_text("of the other run")
    database = DynamicDatabase(traced)
    with pytest.raises(UsageError, match="another process is training in"):
        registry.trainers[name].create(**options).train(
            database.repositories, database, tmp_path / "data"
        )
    assert (folder / "training_state.json").read_text() == "of the other run"
    assert other.poll() is None


def test_runs_that_export_to_one_folder_do_so_in_turn(tmp_path, traced, tiny_model):
    class Watched(DynamicDatabase):
        def export_merged_data(self, repositories, path):
            with pytest.raises(Timeout):
                FileLock(path / EXPORT_LOCK).acquire(timeout=0)
            super().export_merged_data(repositories, path)

    database = Watched(traced)
    given = {"model_name": tiny_model, "output_dir": tmp_path / "out"}
    trainer = registry.trainers["sft"].create(**given, trainer_args={"max_steps": 1})
    trainer.train(database.repositories[:1], database, tmp_path / "data" / "merged")
    with FileLock(tmp_path / "data" / "merged" / EXPORT_LOCK, timeout=0):
        pass  # given back


def test_the_folder_of_the_data_may_be_this_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with export_lock(Path()):
        assert [file.name for file in tmp_path.iterdir()] == [EXPORT_LOCK]
