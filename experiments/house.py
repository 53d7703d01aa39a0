"""The rooms of the house: lines, files, floors, and circles of imports (``make house``).

A *room* is a folder of a package. A file's *floor* is the longest chain of imports below it; a room
stands on the floor of its highest file. A *circle* is a set of files that all reach one another.
Imports for type checkers alone count as well: they are read by whoever reads the file.

    python experiments/house.py [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import grimp
import networkx as nx

ROOTS = {"lean_dojo_core": "core", "lean_dojo_v2": ".", "lean_dojo_plugins": "plugins"}
TOP = Path(__file__).resolve().parent.parent


def imports() -> nx.DiGraph[str]:
    """Give every module of the three packages with an edge to each that it imports."""
    graph = grimp.build_graph(*ROOTS, cache_dir=None)
    drawn: nx.DiGraph[str] = nx.DiGraph()
    for module in graph.modules:
        drawn.add_node(module)
        drawn.add_edges_from(
            (module, other) for other in graph.find_modules_directly_imported_by(module)
        )
    return drawn


def circles(drawn: nx.DiGraph[str]) -> list[list[str]]:
    """Give the sets of modules that all reach one another, largest first."""
    found = [sorted(c) for c in nx.strongly_connected_components(drawn) if len(c) > 1]
    return sorted(found, key=lambda circle: (-len(circle), circle))


def floors(drawn: nx.DiGraph[str]) -> dict[str, int]:
    """Give each module's floor, from 1 upwards; the modules of a circle share one."""
    condensed = nx.condensation(drawn)
    floor: dict[int, int] = {}
    for node in reversed(list(nx.topological_sort(condensed))):
        floor[node] = 1 + max((floor[below] for below in condensed.successors(node)), default=0)
    return {module: floor[node] for module, node in condensed.graph["mapping"].items()}


SKIPPED = {"__pycache__", "lean_project", "lean_project_2"}
"""Folders that hold no code of ours: the sample is data."""


def room_of(path: Path) -> str:
    """Name the room of a file: its folder, from the top of the repository."""
    return path.parent.relative_to(TOP).as_posix()


def rooms(drawn: nx.DiGraph[str]) -> dict[str, dict[str, int]]:
    """Give each room's files, lines and floor; the engine's JavaScript and Lean count as lines."""
    height = floors(drawn)
    table: dict[str, dict[str, int]] = defaultdict(lambda: {"files": 0, "lines": 0, "floor": 0})
    for package, root in ROOTS.items():
        base = TOP / root
        for path in sorted((base / package).rglob("*")):
            if path.suffix not in {".py", ".js", ".lean"} or not SKIPPED.isdisjoint(path.parts):
                continue
            parts = path.relative_to(base).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            row = table[room_of(path)]
            row["files"] += 1
            row["lines"] += len(path.read_text(encoding="utf-8").splitlines())
            row["floor"] = max(row["floor"], height.get(module, 0))
    return dict(sorted(table.items()))


def report() -> dict[str, Any]:
    """Measure the house as it stands."""
    drawn = imports()
    table = rooms(drawn)
    return {
        "rooms": table,
        "files": sum(row["files"] for row in table.values()),
        "lines": sum(row["lines"] for row in table.values()),
        "floors": max(floors(drawn).values()),
        "circles": circles(drawn),
    }


def main() -> None:
    """Print the house."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="data for programs")
    house = report()
    if parser.parse_args().json:
        json.dump(house, sys.stdout, indent=2)
        return
    print(f"{'ROOM':44} {'FILES':>5} {'LINES':>6} {'FLOOR':>5}")
    for room, row in house["rooms"].items():
        print(f"{room:44} {row['files']:5} {row['lines']:6} {row['floor']:5}")
    print(
        f"\n{house['files']} files, {house['lines']} lines, {house['floors']} floors, "
        f"{len(house['circles'])} circles"
    )
    for circle in house["circles"]:
        print("  circle: " + ", ".join(circle))


if __name__ == "__main__":
    main()
