"""Walking over a curriculum: which step is next, and what a run says on its way."""

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
    """The way over the steps of a curriculum; only the main process speaks.

    Attributes:
        folder: The run's folder.
        names: What each step is called.
        is_main: Whether this is the main process.
        noun: What messages call a step, and several.
    """

    folder: Path
    names: Sequence[str]
    is_main: bool
    noun: tuple[str, str] = REPOSITORIES

    def steps(self, done: int) -> Iterator[int]:
        """Give the number of each step that is left, from 0; a terminal gets a bar."""
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
        """Say what a killed run has finished."""
        self.say(f"{self.folder}: going on after {counted(done, *self.noun)}")

    def say_of(self, number: int, text: str) -> None:
        """Say something of a step."""
        self.say(f"[{number + 1}/{len(self.names)}] {self.names[number]}: {text}")

    def say(self, text: str) -> None:
        """Say something on standard error, above any bar."""
        if self.is_main:
            tqdm.write(text, file=sys.stderr)
