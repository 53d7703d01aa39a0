"""The machine: a model's device and precision, and the environment of its processes."""

from __future__ import annotations

import contextlib
import functools
import os
import types
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_core.errors import UsageError

if TYPE_CHECKING:
    import torch

PROCESS_TIMEOUT = timedelta(days=30)
"""How long processes wait for one that waits for Lean, which may take hours."""


@attrs.frozen
class Device:
    """Device of a model, and whether its arithmetic should run in bfloat16."""

    name: str
    bf16: bool

    @property
    def frozen_dtype(self) -> torch.dtype:
        """Type of weights that are not trained."""
        import torch

        return torch.bfloat16 if self.bf16 else torch.float32


def choose_device(name: str = "auto") -> Device:
    """Choose device and precision for this machine; UsageError if the device is not available.

    ``"auto"`` uses a GPU if there is one, unless ``accelerate launch --cpu``
    (``ACCELERATE_USE_CPU``) says otherwise; the others are ``"cpu"``, ``"cuda"`` and ``"mps"``.
    On CUDA it also turns off cuDNN's attention for the process; PyTorch's other kernels stay.
    """
    import torch

    kind = name.partition(":")[0]
    if kind == "auto":
        on_cpu = os.environ.get("ACCELERATE_USE_CPU", "").lower() in {"1", "true", "yes"}
        kind = "cpu" if on_cpu else _accelerator()
        name = kind
    if kind not in {"cpu", "cuda", "mps"}:
        raise UsageError(f"device {name!r} is unknown; use 'auto', 'cpu', 'cuda' or 'mps'")
    if kind != "cpu" and kind != _accelerator():
        raise UsageError(f"device {name!r} is not available here; use 'auto' or 'cpu'")
    if kind == "cuda":
        # cuDNN plans anew for every shape, for 8 to 12 ms, and the rows of a batch set its shape:
        # that was two thirds of each step on an H100 (docs/scale.md).
        torch.backends.cuda.enable_cudnn_sdp(False)
        return Device(name, torch.cuda.is_bf16_supported())
    return Device(name, kind == "cpu" and cpu_has_bf16())


def sharding() -> str:
    """How accelerate was told to share the weights out among processes; empty if it was not."""
    from accelerate.utils import parse_flag_from_env

    if parse_flag_from_env("ACCELERATE_USE_DEEPSPEED"):
        return "DeepSpeed"
    if not parse_flag_from_env("ACCELERATE_USE_FSDP"):
        return ""
    version, parts = (os.environ.get(f"FSDP_{name}", "") for name in ("VERSION", "STATE_DICT_TYPE"))
    return f"FSDP {version} {parts}"


def _accelerator() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def cpu_has_bf16() -> bool:
    """Whether the CPU multiplies bfloat16 in hardware; emulation is slower than float32."""
    import torch

    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def keep_environment_steady() -> None:
    """Keep accelerate from changing the process's environment; idempotent.

    accelerate (1.15) takes every variable out of ``os.environ`` and puts it back each time a
    trainer is built (``KwargsHandler.to_kwargs``), and sets and unsets another one when it looks
    for a GPU. libc's ``getenv`` is not safe against that: a thread that reads the environment at
    that moment (one of a library, or one that formats a time) may crash the process, and a Lean
    engine that starts then has no ``PATH``. A trainer is built once per repository, while the
    engines of the rewards are running.
    """
    from accelerate.utils import dataclasses, imports

    # By setattr, since type checkers forbid assigning to a method.
    setattr(dataclasses.KwargsHandler, "to_kwargs", _to_kwargs)  # noqa: B010
    # It makes torch look for GPUs without initialising CUDA, which a trainer does anyway.
    setattr(imports, "patch_environment", lambda **_: contextlib.nullcontext())  # noqa: B010


def _to_kwargs(handler: Any) -> dict[str, Any]:
    """Return the differences from the handler's defaults, like accelerate's own."""
    kind: Any = type(handler)
    defaults = _defaults(kind)
    return {name: one for name, one in handler.to_dict().items() if defaults[name] != one}


@functools.cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Make an object with its defaults, hiding the environment only from accelerate."""
    from unittest import mock

    from accelerate.utils import dataclasses, environment

    blank = types.SimpleNamespace(**{**vars(os), "environ": {}})
    with mock.patch.object(dataclasses, "os", blank), mock.patch.object(environment, "os", blank):
        return dict(kind().to_dict())
