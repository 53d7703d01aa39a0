"""What benchmarks of several stages share: a folder of one measurement, public commands, words."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson
from filelock import FileLock

from lean_dojo_core.local import FOLDER_VARIABLE
from lean_dojo_v2.files import atomic_write_bytes

PLUGINS = Path(__file__).with_name("plugin_files")
"""Plugins of the experiments alone, which the commands find."""
ANY_TIME = {"folder", "seeds", "parts", "arms", "benchmarks", "counts", "engines", "ship", "json"}
"""Options that a call may change: what is there stays true."""


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def training_parser(doc: str | None, base: str) -> argparse.ArgumentParser:
    """Make the options of every experiment that trains models, seed by seed, and measures them.

    Args:
        doc: The script's docstring, whose first line is shown.
        base: Model that training starts from by default.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=150, help="of training, at each repository")
    parser.add_argument("--rounds", type=int, default=1, help="of expert iteration")
    parser.add_argument("--base", default=base, help="model that training starts from")
    parser.add_argument("--limit", type=int, help="theorems and problems at most")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    return parser


def claimed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the options; refuse a ``folder`` that holds what other sizes gave.

    With ``--report``, where there is one, nothing is run, so the sizes do not matter.
    """
    options = parser.parse_args()
    options.folder = options.folder.absolute()
    if getattr(options, "report", False):
        return options
    options.folder.mkdir(parents=True, exist_ok=True)
    sizes = {key: value for key, value in vars(options).items() if key not in ANY_TIME}
    mine = orjson.dumps(sizes, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    file = options.folder / "options.json"
    if not file.exists():
        atomic_write_bytes(file, mine)
    elif file.read_bytes() != mine:
        parser.error(f"{options.folder} holds a run with other options ({file}); name another one")
    return options


def command(*words: str | Path, done: Path | None = None) -> None:
    """Run ``lean-dojo``; not again where a file says that it is done, and not twice at a time."""
    if done is None:
        _run(words)
        return
    done.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(done.with_name(f"{done.name}.lock")):
        if not done.exists():
            _run(words)
            done.touch()


def _run(words: Sequence[str | Path]) -> None:
    if code := begun(words).wait():
        raise subprocess.CalledProcessError(code, ["lean-dojo", *map(str, words)])


def begun(words: Sequence[str | Path]) -> subprocess.Popen[bytes]:
    """Start ``lean-dojo``, with its output in the log."""
    say("lean-dojo " + " ".join(map(str, words)))
    program = Path(sys.executable).with_name("lean-dojo")
    environment = {FOLDER_VARIABLE: str(PLUGINS), **os.environ}
    return subprocess.Popen([program, *map(str, words)], stdout=sys.stderr, env=environment)
