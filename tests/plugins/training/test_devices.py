"""Where models run, and how."""

from __future__ import annotations

import pytest
import torch

from lean_dojo_plugins.training.devices import choose_device


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
