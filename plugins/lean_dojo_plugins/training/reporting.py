"""What a run prints: messages, its progress, and less of what the libraries print."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs
from tqdm import tqdm

from lean_dojo_core.wording import counted

PICTURE_FILE = "loss.svg"
"""Name of the plot of the loss in a run\'s folder."""


def say(text: str) -> None:
    """Print a message on standard error, above any bar."""
    tqdm.write(text, file=sys.stderr)


REPOSITORIES = ("repository", "repositories")
NOTHING_TO_LEARN = "skipped, because there is nothing to learn from"
"""The message for a repository without rows."""


@attrs.frozen(kw_only=True)
class CurriculumProgress:
    """Iterates over the named steps of a curriculum; only the main process prints."""

    folder: Path
    names: Sequence[str]
    is_main: bool
    noun: tuple[str, str] = REPOSITORIES

    def steps(self, done: int) -> Iterator[int]:
        """Yield the number of each remaining step, from 0, with a bar on a terminal."""
        bar = tqdm(
            total=len(self.names),
            initial=done,
            desc=self.noun[1],
            disable=not (sys.stderr.isatty() and self.is_main),
        )
        with bar:
            for number in range(done, len(self.names)):
                yield number
                bar.update()

    def say_done(self, done: int) -> None:
        """Print what a killed run has finished."""
        self.say(f"{self.folder}: going on after {counted(done, *self.noun)}")

    def say_of(self, number: int, text: str) -> None:
        """Print a message about a step."""
        self.say(f"[{number + 1}/{len(self.names)}] {self.names[number]}: {text}")

    def say(self, text: str) -> None:
        """Print a message, from the main process."""
        if self.is_main:
            say(text)


@attrs.define
class TooLong:
    """Counts of the examples that were too long: their goals shortened, or left out even so.

    >>> TooLong(shortened=12, skipped=3).describe(1024)
    'max_length=1024: 12 goals shortened, 3 examples left out'
    """

    shortened: int = 0
    skipped: int = 0

    def describe(self, max_length: int | None) -> str:
        """Describe both numbers; empty if both are zero."""
        if not self.shortened and not self.skipped:
            return ""
        return (
            f"max_length={max_length}: {self.shortened} goals shortened, "
            f"{self.skipped} examples left out"
        )


def nothing_fits(examples: int, max_length: int | None) -> str:
    """Return the message that all examples were too long."""
    return (
        f"none of {examples} examples fits into max_length={max_length}, even with its goal "
        "shortened; raise max_length"
    )


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
