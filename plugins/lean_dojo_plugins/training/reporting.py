"""Messages of a run, and its progress through a curriculum."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
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
