"""Contexts in which the libraries print less."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def bars_on_terminals_only() -> Iterator[None]:
    """Suppress transformers' bars off a terminal, and a warning that users cannot act on."""
    from transformers.utils import logging as transformers_logging

    hidden = not sys.stderr.isatty() and transformers_logging.is_progress_bar_enabled()
    if hidden:
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with without_their_deprecations():
            yield
    finally:
        if hidden:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def without_their_deprecations() -> Iterator[None]:
    """Suppress transformers' deprecation warnings about a property's old name in peft and TRL.

    The uses are in ``PeftModel.__init__`` of peft 0.21, and in ``disable_gradient_checkpointing``
    and ``unwrap_model_for_generation`` of TRL 1.16, the newest versions.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        yield


@contextmanager
def errors_only() -> Iterator[None]:
    """Silence transformers' messages about a loaded model; the caller reports instead."""
    from transformers.utils import logging as transformers_logging

    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
