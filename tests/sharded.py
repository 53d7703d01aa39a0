"""Runs a script with sharded weights (FSDP), in processes of a CPU: ``sharded.py SCRIPT ARGUMENT…``.

PyTorch shards on CPUs, too, through gloo. Accelerate offers it to GPUs alone, so it is told that
the processes are such; their device stays the CPU.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

from accelerate import PartialState
from accelerate.utils import DistributedType

SETTINGS = {
    "ACCELERATE_USE_FSDP": "true",
    "FSDP_VERSION": "2",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
    "FSDP_RESHARD_AFTER_FORWARD": "true",
    "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT",
    "FSDP_CPU_RAM_EFFICIENT_LOADING": "true",
}
"""The ``fsdp_config`` of docs/configs/accelerate-fsdp.yaml, as ``accelerate launch`` passes it on."""

begin: Any = PartialState.__init__


def begin_as_on_gpus(state: Any, *args: Any, **options: Any) -> None:
    begin(state, *args, **options)
    if state.distributed_type is DistributedType.MULTI_CPU:
        state._shared_state["distributed_type"] = DistributedType.MULTI_GPU


if __name__ == "__main__":
    os.environ.update(SETTINGS)
    PartialState.__init__ = begin_as_on_gpus  # type: ignore[method-assign]
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
