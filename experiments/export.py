"""Export and format a Mathlib-sized database: seconds and memory, from SQLite and from JSON.

    python experiments/export.py [--theorems 120000] [--keep FOLDER]

The yardstick is `json.load` and `json.dump` of the same data. Each way runs in a process of its
own, one after the other on one machine, so that ratios mean something and memory is each way's own.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from generate_database import generate

PROOFS = 20


def naive(folder: Path, _: str) -> None:
    """Read the whole database with Python's json and write it again."""
    with (folder / "database.json").open(encoding="utf-8") as stream:
        data = json.load(stream)
    with (folder / "naive.json").open("w", encoding="utf-8") as stream:
        json.dump(data, stream)


def export(folder: Path, suffix: str) -> None:
    """Open the database and write the merged data."""
    from lean_dojo_v2.database import DynamicDatabase

    with DynamicDatabase(folder / f"database.{suffix}") as database:
        database.export_merged_data(database.repositories, folder / f"export-{suffix}")


def export_and_format(folder: Path, suffix: str) -> None:
    """Export, then make the chat rows of every training theorem."""
    export(folder, suffix)
    from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
    from lean_dojo_v2.database.export.read import read_theorems

    formatter = TacticChat()
    train = folder / f"export-{suffix}" / "random" / "train.json"
    if not sum(1 for theorem in read_theorems(train) for _ in formatter.rows(theorem)):
        raise RuntimeError("no rows")


def record(folder: Path, suffix: str) -> float:
    """Record proofs one by one; gives the median of the single ones in milliseconds."""
    from lean_dojo_v2.database import DynamicDatabase

    copy = shutil.copy(folder / f"database.{suffix}", folder / f"recorded.{suffix}")
    with DynamicDatabase(copy) as database:
        repository = database.repositories[0]
        theorems = list(islice(repository.iter_list("sorry_theorems_unproved"), PROOFS))
        times = []
        for theorem in theorems if suffix == "sqlite" else theorems[:5]:
            start = time.perf_counter()
            database.record_proof(theorem, ["simp", "omega"])
            times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


WAYS = {
    "json.load + json.dump": (naive, ""),
    "export from JSON": (export, "json"),
    "export from SQLite": (export, "sqlite"),
    "export + format from JSON": (export_and_format, "json"),
    "export + format from SQLite": (export_and_format, "sqlite"),
}

RECORDING = {f"record {suffix}": (record, suffix) for suffix in ("sqlite", "json")}


def measure(name: str, folder: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--run", name, "--keep", str(folder)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(result.stdout)
    return found


def run(name: str, folder: Path) -> None:
    function, argument = (WAYS | RECORDING)[name]
    wall, cpu = time.perf_counter(), time.process_time()
    figure = function(folder, argument)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - wall,
                "cpu": time.process_time() - cpu,
                "figure": figure,
                "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--theorems", type=int, default=120_000)
    parser.add_argument("--keep", type=Path, help="folder for the data; used again if it is there")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.run, arguments.keep)
        return
    with tempfile.TemporaryDirectory() as temporary:
        compare(arguments.keep or Path(temporary), arguments.theorems)


def compare(folder: Path, theorems: int) -> None:
    from lean_dojo_v2.database import DynamicDatabase

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "database.json").exists():
        print(f"Making a database of {theorems:,} theorems (half a minute or so) …")
        generate(folder / "database.sqlite", theorems)
        with DynamicDatabase(folder / "database.sqlite") as database:
            database.to_json(folder / "database.json")
    results = {name: measure(name, folder) for name in WAYS}
    yardstick = next(iter(results.values()))
    print(f"{'':<30}{'seconds':>9}{'ratio':>7}{'CPU s':>9}{'ratio':>7}{'peak MB':>9}")
    for name, result in results.items():
        print(
            f"{name:<30}{result['seconds']:>9.1f}{yardstick['seconds'] / result['seconds']:>7.2f}"
            f"{result['cpu']:>9.1f}{yardstick['cpu'] / result['cpu']:>7.2f}"
            f"{result['megabytes']:>9.0f}"
        )
    print("A ratio above 1 is faster than json.load + json.dump.")
    for suffix in ("sqlite", "json"):
        median = measure(f"record {suffix}", folder)["figure"]
        print(f"Recording one proof, {suffix}: median {median:.1f} ms")


if __name__ == "__main__":
    main()
