"""Start-up of ``lean-dojo --help`` and ``lean-dojo plugins``, as a ratio.

The yardstick is a Python that imports what any such program imports, ``click, pluggy, attrs``; it
runs in turn with the others, so that a busy machine slows all of them alike. Processor time is
shown, too: other work on the machine disturbs it less than the clock. All run from byte code, as
after ``pip install``, even if the environment forbids Python to write it. Run by hand (not on
Windows):

    python experiments/startup.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROGRAM = str(Path(sys.executable).with_name("lean-dojo"))
CASES = {
    "import click, pluggy, attrs": [sys.executable, "-c", "import click, pluggy, attrs"],
    "lean-dojo --help": [PROGRAM, "--help"],
    "lean-dojo plugins": [PROGRAM, "plugins"],
    "lean-dojo plugins --json": [PROGRAM, "plugins", "--json"],
}


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a command; give the seconds of the clock and of the processor."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return elapsed, used.ru_utime + used.ru_stime


def main(rounds: int) -> None:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(rounds + 1):  # the first round writes the byte code and is dropped
            for name, command in CASES.items():
                times[name].append(seconds(command, environment))
    base = next(iter(times.values()))[1:]
    print(f"{'median [quartiles] of':<28}{'clock ms':>9}{'ratio':>20}{'CPU ms':>9}{'ratio':>20}")
    for name, (_, *found) in times.items():
        print(f"{name:<28}", end="")
        for mine, others in zip(zip(*found, strict=True), zip(*base, strict=True), strict=True):
            pairs = [one / other for one, other in zip(mine, others, strict=True)]
            low, middle, high = np.quantile(pairs, (0.25, 0.5, 0.75))
            ratio = f"{middle:.2f} [{low:.2f}, {high:.2f}]"
            print(f"{statistics.median(mine) * 1e3:>9.0f}{ratio:>20}", end="")
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
