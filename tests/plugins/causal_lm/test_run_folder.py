"""The output folder at every point of a save; sharded models, other runs, broken state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState
from lean_dojo_v2.errors import CheckpointError


def step(number: int) -> FinishedStep:
    return FinishedStep(f"u{number}", "c", 1, 1, "d")


class StopError(Exception):
    pass


def test_a_save_stopped_at_any_move_loads_and_is_finished_later(tiny_model, tmp_path, monkeypatch):
    """Shards of the old and the new model never mix, wherever the move is stopped."""
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    state = RunState("T", {})
    reference = tmp_path / "reference"
    RunFolder(reference).path.mkdir()
    versions = [0.0, 1.0]

    def save(folder: RunFolder, value: float) -> None:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(value)
        model.save_pretrained(folder.staging, max_shard_size="100KB")

    stops = 0
    for stop in range(1, 12):
        folder = RunFolder(tmp_path / f"run{stop}")
        folder.path.mkdir()
        state = RunState("T", {})
        folder.save(state)
        save(folder, versions[0])
        folder.publish(state, [step(0)])
        save(folder, versions[1])
        moves = 0
        original = Path.replace

        def replace(self, target, folder=folder, stop=stop, original=original):
            nonlocal moves
            if self.parent == folder.staging and Path(target).parent == folder.path:
                moves += 1
                if moves == stop:
                    raise StopError
            return original(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", replace)
            try:
                folder.publish(state, [step(1)])
            except StopError:
                stops += 1
        weights = AutoModelForCausalLM.from_pretrained(folder.path).state_dict()
        values = {float(w.flatten()[0]) for w in weights.values()}
        assert len(values) == 1, "weights of two saves are mixed"
        folder.recover()
        found = folder.load()
        assert found is not None
        assert [s.url for s in found.finished] == ["u0", "u1"]
        weights = AutoModelForCausalLM.from_pretrained(folder.path).state_dict()
        assert {float(w.flatten()[0]) for w in weights.values()} == {1.0}
        index = json.loads((folder.path / "model.safetensors.index.json").read_text())
        shards = {file.name for file in folder.path.glob("model-*.safetensors")}
        assert shards == set(index["weight_map"].values())
        assert not folder.staging.exists()
    assert stops >= 5


def test_an_unannounced_staging_folder_is_thrown_away(tmp_path):
    folder = RunFolder(tmp_path)
    folder.save(RunState("T", {}, [step(0)]))
    folder.staging.mkdir()
    (folder.staging / "model.safetensors").write_bytes(b"half")
    folder.recover()
    assert folder.load() == RunState("T", {}, [step(0)])
    assert not folder.staging.exists()
    assert not (tmp_path / "model.safetensors").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', '{"version": 7}'])
def test_a_broken_state_file_is_named(tmp_path, text):
    (tmp_path / "training_state.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"training_state\.json"):
        RunFolder(tmp_path).load()
