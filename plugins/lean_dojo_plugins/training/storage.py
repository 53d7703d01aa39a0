"""A disk that is full, a folder that may not be written: one message, whichever library met it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.errors import TrainingError

_NUMBERS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
}  # fmt: skip
_WRITERS = ("PytorchStreamWriter", "iostream error", "(os error ")
"""What torch and safetensors say in place of the system's error."""
_LITTLE = 1 << 20
"""Bytes that no checkpoint fits into."""


@contextmanager
def told_when_unwritable(folder: Path) -> Iterator[None]:
    """Turn a library's error about writing into one that says where and why.

    Args:
        folder: Where the run writes.

    Raises:
        TrainingError: In place of such an error; others stay as they are.
    """
    try:
        yield
    except LeanDojoError:
        raise
    except Exception as error:
        reason = _reason(error, folder)
        if not reason:
            raise
        raise TrainingError(
            f"{folder}: cannot be written: {reason}. What was saved before is whole; make room, or "
            "the folder writable, and give the same command again: the run goes on"
        ) from error


def _reason(error: BaseException, folder: Path) -> str:
    """Say why nothing could be written; nothing for an error of another kind."""
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError) and one.errno in _NUMBERS:
            file = one.filename
            where = f" ({os.fsdecode(file)})" if isinstance(file, (str, bytes, Path)) else ""
            return f"{one.strerror}{where}"
        if isinstance(one, (SafetensorError, RuntimeError)) and any(
            w in str(one) for w in _WRITERS
        ):
            if shutil.disk_usage(folder).free < _LITTLE:
                return os.strerror(errno.ENOSPC)
            return " ".join(str(one).split())[:200]
        one = one.__cause__ or one.__context__
    return ""
