"""A run may be trained longer; other changes are refused, with the flags that undo them."""

from __future__ import annotations

import json

import attrs
import pytest
import torch
from safetensors.torch import load_file

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState, check_same_run
from lean_dojo_v2.database import DynamicDatabase


@pytest.fixture
def train(tmp_path, traced, tiny_model):
    database = DynamicDatabase(traced)
    repos = [r for r in database.repositories if "empty" not in r.url]

    def run(repositories=1, steps=2, optim=None, **options):
        optimiser = {} if optim is None else {"optim": optim}
        SFTTrainer(
            str(tiny_model), str(tmp_path / "out"), batch_size=2, device="cpu", report_to="none",
            trainer_args={"max_steps": steps, **optimiser}, **options,
        ).train(repos[:repositories], database, tmp_path / "data")  # fmt: skip
        return RunFolder(tmp_path / "out").load()

    return run


def test_a_finished_run_is_trained_on_for_what_is_added(train, tmp_path, capsys):
    train(steps=2)
    before = load_file(tmp_path / "out" / "model.safetensors")
    state = train(steps=5)
    assert "training on, for 3 steps more" in capsys.readouterr().err
    assert [step.optimizer_steps for step in state.finished] == [2, 3]
    after = load_file(tmp_path / "out" / "model.safetensors")
    assert any(not torch.equal(after[name], weight) for name, weight in before.items())
    rows = map(json.loads, (tmp_path / "out" / "metrics.jsonl").read_text().splitlines())
    assert sorted({row["step"] for row in rows}) == [1, 2, 3, 4, 5]

    train(steps=5)
    assert (
        "already trained; 1 repository done, none left (resume=False trains anew)"
        in capsys.readouterr().err
    )
    state = train(repositories=2, steps=5)  # another repository follows as ever
    assert [step.optimizer_steps for step in state.finished] == [2, 3, 5]
    with pytest.raises(UsageError, match=r"--set trainer_args.max_steps=5"):
        train(repositories=2, steps=4)


def test_a_refused_change_names_the_flags(train):
    train()
    with pytest.raises(
        UsageError, match=r"lr was 2e-05 and is 0.1.*To resume it, use --set lr=2e-05"
    ):
        train(lr=0.1)
    with pytest.raises(
        UsageError, match=r"max_length was 1024 and is 9; .*\.optim was not set.*; or use another"
    ) as error:
        train(max_length=9, optim="sgd")
    assert "use --set max_length=1024, leave out trainer_args.optim;" in str(error.value)


def test_a_flag_is_named_as_a_shell_takes_it(tmp_path):
    state = RunState("T", {"lora_config": {"r": 2}, "reward_func": [["constant", 1.0, {}]]})
    with pytest.raises(UsageError) as error:
        check_same_run(state, type("T", (), {}), {"lora_config": None, "reward_func": []}, tmp_path)
    said = """use --set 'lora_config={"r": 2}', give the rewards (--reward) as before; or"""
    assert said in str(error.value)


def test_only_more_of_it_only_adds(tmp_path):
    state = RunState("T", {"epochs": 2.0, "trainer_args": {"max_steps": -1, "optim": "x"}})
    assert not check_same_run(state, type("T", (), {}), state.settings, tmp_path)
    assert check_same_run(state, type("T", (), {}), {**state.settings, "epochs": 3.0}, tmp_path)
    for changed in (
        {"epochs": 1.0},
        {"trainer_args": {"max_steps": 9, "optim": "x"}},  # fewer than the epochs have
        {"trainer_args": {"max_steps": -1, "optim": "y"}},
    ):
        with pytest.raises(UsageError, match="other settings"):
            check_same_run(state, type("T", (), {}), {**state.settings, **changed}, tmp_path)


def test_a_setting_that_came_since_is_compared_by_its_default(tmp_path):
    @attrs.define
    class T:
        old: int = 1
        new: list[int] = attrs.field(factory=list)

    state = RunState("T", {"old": 1})
    assert not check_same_run(state, T, {"old": 1, "new": []}, tmp_path)
    with pytest.raises(UsageError, match=r"new was \[\] and is \[2\]"):
        check_same_run(state, T, {"old": 1, "new": [2]}, tmp_path)


def test_a_folder_of_before_lengths_were_noted_loads(tmp_path):
    step = {"url": "u", "commit": "c", "rows": 3, "optimizer_steps": 2, "data": "d"}
    record = {
        "version": 1, "trainer": "SFTTrainer", "settings": {"lr": 1.0}, "finished": [step],
        "pending": None, "pending_files": [],
    }  # fmt: skip
    (tmp_path / "training_state.json").write_text(json.dumps(record))
    state = RunFolder(tmp_path).load()
    assert state.finished == [FinishedStep(**step)]
