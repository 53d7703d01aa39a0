"""Damaged checkpoints are named, and the run goes on from what is whole."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from lean_dojo_core.errors import DataError
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.checkpoints import keep_fitting_checkpoints, last_checkpoint, seal
from lean_dojo_plugins.training.run_folder import report_write_errors
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import TrainingError


def checkpoint(folder: Path, number: int, *, sealed: bool = True) -> Path:
    made = folder / f"checkpoint-{number}"
    made.mkdir(parents=True)
    (made / "trainer_state.json").write_text("{}")
    torch.save({"a": torch.arange(100)}, made / "optimizer.pt")
    if sealed:
        seal(made)
    return made


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def change(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [cut, change, Path.unlink])
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(tmp_path, capsys, damage):
    before, newest = checkpoint(tmp_path, 2), checkpoint(tmp_path, 4)
    damage(newest / "optimizer.pt")
    assert last_checkpoint(tmp_path) == before
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(f"{newest} is damaged or was not finished: optimizer.pt ")
    assert said.endswith("the run resumes from checkpoint-2")
    assert last_checkpoint(tmp_path) == before
    assert capsys.readouterr().err == ""


def test_a_checkpoint_that_was_not_finished_is_deleted(tmp_path, capsys):
    unfinished = checkpoint(tmp_path, 2, sealed=False)
    assert last_checkpoint(tmp_path) is None
    assert not unfinished.exists()
    said = capsys.readouterr().err
    assert "whole.json is missing" in said
    assert "from the step's beginning" in said


def test_checkpoints_of_other_data_are_named(tmp_path, capsys, monkeypatch):
    keep_fitting_checkpoints(tmp_path, {"rows": 1}, 1)
    stale = checkpoint(tmp_path, 2)
    keep_fitting_checkpoints(tmp_path, {"rows": 1}, 1)
    assert stale.exists()
    assert capsys.readouterr().err == ""
    keep_fitting_checkpoints(tmp_path, {"rows": 2}, 1)
    assert not stale.exists()
    assert f"{stale} does not fit" in capsys.readouterr().err
    stale = checkpoint(tmp_path, 2)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    keep_fitting_checkpoints(tmp_path, {"rows": 2}, 1)
    assert not stale.exists(), "in parts it would be other files"
    assert "how they share the weights" in capsys.readouterr().err


def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(
    traced, tiny_model, tmp_path, capsys, monkeypatch
):
    (tmp_path / "database.json").write_bytes(traced.read_bytes())
    database = DynamicDatabase(tmp_path / "database.json")
    options = {"trainer_args": {"save_steps": 2, "max_steps": 7}, "report_to": "none"}

    def trainer() -> SFTTrainer:
        return SFTTrainer(str(tiny_model), str(tmp_path / "out"), batch_size=2, **options)

    class StoppedError(Exception):
        pass

    first = trainer()
    build = _stopping_at(type(first).build_step_trainer, 5, StoppedError)
    monkeypatch.setattr(type(first), "build_step_trainer", build)
    with pytest.raises(StoppedError):
        first.train(database.repositories[:1], database, tmp_path / "merged")
    monkeypatch.undo()
    [folder] = (tmp_path / "out" / "checkpoints").iterdir()
    assert {one.name for one in folder.glob("checkpoint-*")} == {"checkpoint-2", "checkpoint-4"}
    cut(folder / "checkpoint-4" / "optimizer.pt")
    capsys.readouterr()
    trainer().train(database.repositories[:1], database, tmp_path / "merged")
    said = capsys.readouterr().err
    assert "checkpoint-4 is damaged or was not finished: optimizer.pt has" in said
    assert "going on from checkpoint-2" in said
    assert (tmp_path / "out" / "model.safetensors").exists()


def _stopping_at(build, step: int, error: type[Exception]):
    from transformers import TrainerCallback

    class Stop(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            if state.global_step == step:
                raise error

    def built(self, *args):
        made = build(self, *args)
        made.add_callback(Stop())
        return made

    return built


ERRORS = {
    "the system's": OSError(errno.ENOSPC, "No space left on device"),
    "read-only": OSError(errno.EROFS, "Read-only file system", "/x/model"),
    "safetensors'": SafetensorError("I/O error: No space left on device (os error 28)"),
    "torch's": RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed"),
}


@pytest.mark.parametrize("which", ERRORS)
def test_a_full_disk_is_one_message(tmp_path, which):
    with (
        pytest.raises(TrainingError, match=rf"{tmp_path}: cannot be written: .*repeat the command"),
        report_write_errors(tmp_path),
    ):
        raise ERRORS[which]


def test_other_errors_stay_as_they_are(tmp_path):
    with pytest.raises(ValueError, match="other"), report_write_errors(tmp_path):
        raise ValueError("other")


def test_what_the_disk_does_not_give_is_not_deleted(tmp_path, monkeypatch):
    kept = checkpoint(tmp_path, 1)

    def unread(path: Path) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", unread)
    with pytest.raises(DataError, match=r"checkpoint-1: cannot be read \(Input/output error\)"):
        last_checkpoint(tmp_path)
    assert kept.is_dir()
