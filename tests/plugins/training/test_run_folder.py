"""The output folder at every point of a save; sharded models, other runs, broken state."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
import torch
from transformers import AutoModelForCausalLM

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState, check_same_run
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
        folder.publish([step(0)])
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
                folder.publish([step(1)])
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


T = type("T", (), {})


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"lr": 2e-5}, {"lr": 0.1}, r"lr was 2e-05 and is 0.1. To resume it, use --set lr=2e-05;"),
        ({"epochs": 1}, {"epochs": 2}, "use --set epochs=1;"),
        (
            {"max_length": 1024, "trainer_args": {}},
            {"max_length": 9, "trainer_args": {"optim": "sgd"}},
            "To resume it, use --set max_length=1024, leave out trainer_args.optim;",
        ),
        (
            {"lora_config": {"r": 2}, "reward_func": [["constant", 1.0, {}]]},
            {"lora_config": None, "reward_func": []},
            """use --set 'lora_config={"r": 2}', give the rewards (--reward) as before; or""",
        ),
    ],
)
def test_a_refused_change_names_the_flags_as_a_shell_takes_them(before, now, said, tmp_path):
    with pytest.raises(UsageError) as error:
        check_same_run(RunState("T", before), T, now, tmp_path)
    assert said in str(error.value)


def test_a_setting_that_came_since_is_compared_by_its_default(tmp_path):
    @attrs.define
    class T:
        old: int = 1
        new: list[int] = attrs.field(factory=list)

    state = RunState("T", {"old": 1})
    check_same_run(state, T, {"old": 1, "new": []}, tmp_path)
    with pytest.raises(UsageError, match=r"new was \[\] and is \[2\]"):
        check_same_run(state, T, {"old": 1, "new": [2]}, tmp_path)
