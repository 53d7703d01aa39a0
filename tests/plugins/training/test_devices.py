"""Where models run, and how; no trainer changes the process's environment.

Other threads read it, and engines start with it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerate.utils import (
    DistributedDataParallelKwargs,
    GradientAccumulationPlugin,
    TorchDynamoPlugin,
)
from accelerate.utils.imports import is_cuda_available

from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.training.devices import choose_device, keep_environment_steady
from lean_dojo_v2.database import DynamicDatabase


def test_a_gpu_does_not_plan_attention_anew_for_every_shape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", asked.append)
    assert choose_device("cpu").name == "cpu"
    assert not asked
    assert choose_device().bf16
    assert asked == [False]


class Changes:
    """Every change of the environment, as Python tells of it."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.watching = False
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.watching and event in {"os.putenv", "os.unsetenv"}:
            self.seen.append(f"{event} {arguments[0]!r}")

    def of(self, run: Callable[[], object]) -> list[str]:
        self.seen, self.watching = [], True
        try:
            run()
        finally:
            self.watching = False
        return self.seen


CHANGES = Changes()
"""An audit hook stays as long as the process, so there is one."""


def test_the_watch_sees_what_accelerate_does_by_itself():
    def change() -> None:
        os.environ["LEAN_DOJO_TEST"] = "x"
        del os.environ["LEAN_DOJO_TEST"]

    assert len(CHANGES.of(change)) == 2


@pytest.mark.slow
def test_grpo_changes_nothing_with_a_reward_on_another_thread(tmp_path, traced, tiny_model):
    paths: list[bool] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            paths.append("PATH" in os.environ)

    reader = threading.Thread(target=read)
    database = DynamicDatabase(traced)
    trainer = GRPOTrainer(
        str(tiny_model), "constant", str(tmp_path / "out"), device="cpu",
        trainer_args={"max_steps": 1, "max_completion_length": 4},
    )  # fmt: skip
    reader.start()
    try:
        changes = CHANGES.of(
            lambda: trainer.train(database.repositories[:2], database, tmp_path / "data")
        )
    finally:
        stop.set()
        reader.join()
    assert changes == []
    assert all(paths)


def test_accelerate_hears_the_same_as_before(monkeypatch):
    original = {
        "accumulation": {"num_steps": 4, "sync_each_batch": True},
        "ddp": {"find_unused_parameters": True},
    }
    keep_environment_steady()
    # What accelerate's own way gave: what the environment says is no default.
    monkeypatch.setenv("ACCELERATE_DYNAMO_BACKEND", "inductor")
    monkeypatch.setenv("ACCELERATE_DYNAMO_MODE", "reduce-overhead")
    assert (
        GradientAccumulationPlugin(4, sync_each_batch=True).to_kwargs()
        == (original["accumulation"])
    )
    ddp = DistributedDataParallelKwargs(find_unused_parameters=True)
    assert ddp.to_kwargs() == original["ddp"]
    assert TorchDynamoPlugin().to_kwargs() == {"backend": "inductor", "mode": "reduce-overhead"}
    assert CHANGES.of(is_cuda_available) == []


@pytest.mark.slow
def test_native_readers_survive_thousands_of_trainers():
    """What crashed within seconds: threads in libc's ``getenv`` while accelerate is at work."""
    keep_environment_steady()
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            libc.getenv(b"HOME_NOT_THERE")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        changes = CHANGES.of(
            lambda: [GradientAccumulationPlugin(2).to_kwargs() for _ in range(20_000)]
        )
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert changes == []
