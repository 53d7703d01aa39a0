"""Progress over a curriculum: the next step, and messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
from tqdm import tqdm

from lean_dojo_v2.wording import counted

REPOSITORIES = ("repository", "repositories")
NOTHING = "skipped, because there is nothing to learn from"


@attrs.frozen(kw_only=True)
class CurriculumProgress:
    """Iterates over the steps of a curriculum; only the main process prints.

    Attributes:
        folder: The run's folder.
        names: Names of the steps.
        is_main: Whether this is the main process.
        noun: Noun for a step in messages, singular and plural.
    """

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
        """Print a message on standard error, above any bar."""
        if self.is_main:
            tqdm.write(text, file=sys.stderr)
