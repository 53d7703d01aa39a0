"""Choice of devices and precision, so that the defaults work on every machine."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

import torch
from accelerate import PartialState
from pytorch_lightning.strategies import DDPStrategy

from lean_dojo_plugins.training.devices import cpu_has_bf16
from lean_dojo_v2.lean_agent.config import TrainingConfig

log = logging.getLogger(__name__)


def choose_hardware(config: TrainingConfig) -> dict[str, Any]:
    """Fit a configuration to this machine; every change is logged.

    Without a GPU, ``num_gpus`` becomes one CPU process, unless ``accelerator="cpu"`` asks for
    several; half precision becomes bfloat16 or 32 bits, whichever the processor handles well.

    Returns:
        Arguments of ``pytorch_lightning.Trainer``: ``accelerator``, ``devices`` (processes, one
        device each), ``strategy`` and ``precision``.
    """
    on_gpu = _on_gpu(config)
    devices = config.num_gpus
    if on_gpu:
        devices = min(devices, torch.cuda.device_count())
    elif config.accelerator != "cpu":
        devices = 1
    if devices != config.num_gpus:
        log.warning("num_gpus=%d, but %s: using %d device(s)", config.num_gpus, _seen(), devices)
    strategy: Any = "auto"
    if devices > 1:
        strategy = DDPStrategy(
            # A spawned process runs the training alone; "popen" would run the user's whole
            # script again. Under torchrun or Slurm the processes are there already.
            start_method="popen" if torch.distributed.is_torchelastic_launched() else "spawn",
            process_group_backend="nccl" if on_gpu else "gloo",
            timeout=timedelta(seconds=config.timeout_seconds),
        )
    return {
        "accelerator": "gpu" if on_gpu else "cpu",
        "devices": devices,
        "strategy": strategy,
        "precision": _precision(config.precision, on_gpu=on_gpu),
    }


def join_processes(config: TrainingConfig) -> PartialState:
    """Join the processes started by ``torchrun``, so that they can synchronise."""
    return PartialState(cpu=not _on_gpu(config), timeout=timedelta(seconds=config.timeout_seconds))


def _on_gpu(config: TrainingConfig) -> bool:
    return config.accelerator != "cpu" and torch.cuda.is_available()


def _seen() -> str:
    count = torch.cuda.device_count()
    return f"this machine has {count} GPU(s)" if count else "this machine has no GPU"


def _precision(wanted: str, *, on_gpu: bool) -> str:
    half = wanted in {"16", "16-mixed", "bf16", "bf16-mixed", "16-true", "bf16-true"}
    if not half or (on_gpu and torch.cuda.is_bf16_supported()):
        return wanted
    if on_gpu:
        chosen = wanted.replace("bf16", "16")
    elif wanted.startswith("bf16"):
        chosen = wanted if cpu_has_bf16() else "32-true"
    else:
        chosen = "bf16-mixed" if cpu_has_bf16() else "32-true"
    if chosen != wanted:
        log.warning("precision=%s does not suit this machine: using %s", wanted, chosen)
    return chosen


def inference_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Compute in bfloat16 on devices that are fast at it (embeddings change by about 4e-5)."""
    good = torch.cuda.is_bf16_supported() if device.type == "cuda" else cpu_has_bf16()
    return torch.autocast(device.type, dtype=torch.bfloat16) if good else nullcontext()
