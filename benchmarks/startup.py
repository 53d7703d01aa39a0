"""Start-up of ``lean-dojo --help`` and ``lean-dojo plugins``, as a ratio.

The yardstick is a Python that imports what any such program imports, ``click, pluggy, attrs``; it
runs in turn with the others, so that a busy machine slows all of them alike. Run by hand:

    python benchmarks/startup.py [rounds]
"""

from __future__ import annotations

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


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main(rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(rounds + 1):  # the first round fills caches and is dropped
        for name, command in CASES.items():
            times[name].append(seconds(command))
    medians = {name: statistics.median(found[1:]) for name, found in times.items()}
    base = next(iter(medians.values()))
    print(f"{'command':<30}{'median ms':>10}{'ratio':>8}   goal <= {GOAL}")
    for name, median in medians.items():
        print(f"{name:<30}{median * 1e3:>10.0f}{median / base:>8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
