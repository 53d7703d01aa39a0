"""Several training processes under torchrun: who is first, and waiting for each other."""

from __future__ import annotations

import os
from datetime import timedelta

import torch
from torch import distributed

from lean_dojo_v2.lean_agent.config import TrainingConfig


def join(config: TrainingConfig) -> None:
    """Join the process group that ``torchrun`` announced, so that processes can wait for one."""
    if distributed.is_torchelastic_launched() and not distributed.is_initialized():
        gpu = config.accelerator != "cpu" and torch.cuda.is_available()
        distributed.init_process_group(
            "nccl" if gpu else "gloo", timeout=timedelta(seconds=config.timeout_seconds)
        )


def is_first() -> bool:
    """Tell whether this process writes the files: the only one, or rank 0."""
    return int(os.environ.get("RANK", "0")) == 0


def wait() -> None:
    """Wait until every process is here."""
    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()


def rank_and_world() -> tuple[int, int]:
    """Give this process's number and how many there are."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1
