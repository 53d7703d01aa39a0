"""Start-up of ``lean-dojo --help`` and ``lean-dojo plugins``, as a ratio.

The yardstick is a Python that imports what any such program imports, ``click, pluggy, attrs``; it
runs in turn with the others, so that a busy machine slows all of them alike. Processor time is
shown, too: other work on the machine disturbs it less than the clock. Run by hand (not on Windows):

    python experiments/startup.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

GOAL = 1.5
PROGRAM = str(Path(sys.executable).with_name("lean-dojo"))
CASES = {
    "import click, pluggy, attrs": [sys.executable, "-c", "import click, pluggy, attrs"],
    "lean-dojo --help": [PROGRAM, "--help"],
    "lean-dojo plugins": [PROGRAM, "plugins"],
    "lean-dojo plugins --json": [PROGRAM, "plugins", "--json"],
}


def seconds(command: list[str]) -> tuple[float, float]:
    """Run a command; give the seconds of the clock and of the processor."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return elapsed, used.ru_utime + used.ru_stime


def main(rounds: int) -> None:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
    for _ in range(rounds + 1):  # the first round fills caches and is dropped
        for name, command in CASES.items():
            times[name].append(seconds(command))
    medians = {
        name: [statistics.median(column) for column in zip(*found[1:], strict=True)]
        for name, found in times.items()
    }
    base = next(iter(medians.values()))
    print(f"{'median of':<30}{'clock ms':>10}{'ratio':>7}{'CPU ms':>10}{'ratio':>7}   goal {GOAL}")
    for name, (clock, cpu) in medians.items():
        ratios = clock / base[0], cpu / base[1]
        print(f"{name:<30}{clock * 1e3:>10.0f}{ratios[0]:>7.2f}{cpu * 1e3:>10.0f}{ratios[1]:>7.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
