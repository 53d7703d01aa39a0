"""Keep accelerate from changing the process's environment while a trainer is built and runs.

accelerate (1.15) takes every variable out of ``os.environ`` and puts it back each time a trainer is
built (``KwargsHandler.to_kwargs``), and sets and unsets another one when it looks for a GPU. libc's
``getenv`` is not safe against that: a thread that reads the environment at that moment (one of a
library, or one that formats a time) may crash the process, and a Lean engine that starts then has
no ``PATH``. A trainer is built once per repository, while the engines of the rewards are running.
"""

from __future__ import annotations

import contextlib
import functools
import os
import types
from typing import Any
from unittest import mock

from accelerate.utils import dataclasses, environment, imports


def install() -> None:
    """Patch accelerate in this process; idempotent."""
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
    blank = types.SimpleNamespace(**{**vars(os), "environ": {}})
    with mock.patch.object(dataclasses, "os", blank), mock.patch.object(environment, "os", blank):
        return dict(kind().to_dict())
