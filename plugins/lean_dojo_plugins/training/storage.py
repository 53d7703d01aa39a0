"""Errors of writing, such as a full disk, as one message for all libraries."""

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
"""Messages of torch and safetensors for system errors."""
_LITTLE = 1 << 20
"""Minimum free space for a checkpoint, in bytes."""


@contextmanager
def report_write_errors(folder: Path) -> Iterator[None]:
    """Turn a library's error of writing into one with place and reason.

    Args:
        folder: The run's folder.

    Raises:
        TrainingError: In place of such an error; others are unchanged.
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
            f"{folder}: cannot be written: {reason}. What was saved before is complete; free "
            "space, or make the folder writable, and repeat the command to resume"
        ) from error


def _reason(error: BaseException, folder: Path) -> str:
    """Return why writing failed; empty for another kind of error."""
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
