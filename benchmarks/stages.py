"""What benchmarks of several stages share: public commands, each run once, and words on the way."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def command(*words: str | Path, done: Path | None = None) -> None:
    """Run ``lean-dojo``; not again where a file says that it is done."""
    if done is not None and done.exists():
        return
    say("lean-dojo " + " ".join(map(str, words)))
    program = Path(sys.executable).with_name("lean-dojo")
    subprocess.run([program, *map(str, words)], check=True, stdout=sys.stderr)
    if done is not None:
        done.touch()
