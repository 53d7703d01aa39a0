"""Tracing against the engine's own elaboration time: theorems per second, and the ratio.

    python experiments/tracing.py [--project FOLDER] [--repeat N] [--json FILE]

(a) the engine elaborates the files and reports messages alone; (b) it traces them (info trees,
goals printed, references resolved) and the reader makes records. Both on one warm engine, one file
after the other, alternating; imports are elaborated before. The goal is (b) <= 1.5 x (a).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from importlib import resources
from pathlib import Path

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.tracing import LeanGitRepo
from lean_dojo_v2.tracing.project.lakefile import module_path
from lean_dojo_v2.tracing.project.workspace import read_workspace
from lean_dojo_v2.tracing.reading.extract import extract
from lean_dojo_v2.tracing.running.engines import elaborate, lay_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    sample = Path(str(resources.files("lean_dojo_v2"))) / "sample" / "lean_project"
    parser.add_argument("--project", type=Path, default=sample)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    workspace = read_workspace(LeanGitRepo.from_path(options.project).project)
    bare: list[float] = []
    traced: list[float] = []
    theorems = tactics = 0
    with tempfile.TemporaryDirectory() as folder:
        lay_out(workspace, Path(folder))
        with Server(engine="embedded", project_path=folder, timeout=600) as server:
            for _ in range(options.repeat + 1):  # the first round warms up
                plain_seconds = trace_seconds = 0.0
                theorems = tactics = 0
                for file in workspace.own:
                    start = time.perf_counter()
                    name = str(module_path(file.module))
                    request = {"file": file.text, "readHeader": True, "fileName": name}
                    answer = server.run("frontend.process", request)
                    assert "error" not in answer, answer
                    middle = time.perf_counter()
                    elaboration = elaborate(server, file, 600)
                    imports = workspace.imports_of(file)
                    result = extract(file.path, file.text, elaboration, imports, workspace.path_of)
                    plain_seconds += middle - start
                    trace_seconds += time.perf_counter() - middle
                    theorems += len(result.theorems)
                    tactics += sum(len(theorem.tactics) for theorem in result.theorems)
                bare.append(plain_seconds)
                traced.append(trace_seconds)
    ratios = [b / a for a, b in zip(bare[1:], traced[1:], strict=True)]
    figures = {
        "project": options.project.name,
        "theorems": theorems,
        "tactics": tactics,
        "elaboration_seconds": round(statistics.median(bare[1:]), 3),
        "tracing_seconds": round(statistics.median(traced[1:]), 3),
        "theorems_per_second": round(theorems / statistics.median(traced[1:]), 1),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
