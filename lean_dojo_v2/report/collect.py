"""Find what a run left in its output folder."""

from __future__ import annotations

import base64
import json
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core import registry
from lean_dojo_core.errors import DataError, UsageError

PICTURES = ("loss", "rewards", "predictions", "forgetting")
"""Pictures that trainers leave, in the order of the page."""
_LIBRARIES = ("lean-dojo-v2", "torch", "transformers", "trl", "peft", "pytorch-lightning")


@attrs.frozen
class Run:
    """One training run.

    Attributes:
        name: Its folder, relative to the output folder.
        trainer: The trainer's class.
        settings: Its settings, as text.
        steps: One row a finished repository: address, commit, rows, optimiser steps.
        pictures: Name and ``data:`` address of each picture.
        last: The last reported value of each metric.
    """

    name: str
    trainer: str
    settings: dict[str, str]
    steps: list[dict[str, Any]]
    pictures: list[tuple[str, str]]
    last: dict[str, float]


@attrs.frozen
class Proof:
    """A theorem that was tried.

    Attributes:
        stage: With which model.
        name: The theorem.
        file: Its file.
        success: Whether Lean confirmed a proof.
        proof: The proof.
        reason: Why there is none.
        expansions: States expanded.
        seconds: Time of the search.
    """

    stage: str
    name: str
    file: str
    success: bool
    proof: str
    reason: str
    expansions: int
    seconds: float


@attrs.frozen
class Contents:
    """Everything that the page shows."""

    title: str
    stages: list[dict[str, Any]]
    seconds: dict[str, float]
    runs: list[Run]
    proofs: list[Proof]
    trees: list[tuple[str, str]]
    tables: list[tuple[str, dict[str, Any]]]
    environment: dict[str, str]


def collect(folder: Path) -> Contents:
    """Read an output folder.

    Args:
        folder: A trainer's ``output_dir``, or a folder that holds several.

    Raises:
        UsageError: If nothing that a run writes is there.
        DataError: If a file of it cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    summary = _json(folder / "summary.json") if (folder / "summary.json").exists() else {}
    contents = Contents(
        title=folder.name or "run",
        stages=summary.get("stages", []),
        seconds=summary.get("seconds", {}),
        runs=[_run(folder, place) for place in _run_folders(folder)],
        proofs=list(_proofs(folder)),
        trees=list(_trees(folder)),
        tables=[
            (str(file.relative_to(folder)), _json(file))
            for name in ("evaluation.json", "forgetting.json")
            for file in sorted(folder.rglob(name))
        ],
        environment=_environment(),
    )
    if not (contents.runs or contents.proofs or contents.tables):
        raise UsageError(
            f"{folder}: no run is there (no metrics.jsonl, training_state.json or proofs.jsonl); "
            "name the output_dir of a training"
        )
    return contents


def _run_folders(folder: Path) -> list[Path]:
    marks = ("training_state.json", "metrics.jsonl")
    return sorted({file.parent for mark in marks for file in folder.rglob(mark)})


def _run(root: Path, folder: Path) -> Run:
    state_file = folder / "training_state.json"
    state = _json(state_file) if state_file.exists() else {}
    last: dict[str, float] = {}
    for row in _lines(folder / "metrics.jsonl"):
        last.update({k: v for k, v in row.items() if isinstance(v, int | float) and k != "time"})
    return Run(
        name=str(folder.relative_to(root)) if folder != root else folder.name,
        trainer=state.get("trainer", ""),
        settings={k: json.dumps(v, ensure_ascii=False) for k, v in _settings(state)},
        steps=state.get("finished", []),
        pictures=list(_pictures(folder)),
        last=last,
    )


def _settings(state: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(k, v) for k, v in state.get("settings", {}).items() if v not in (None, {}, [])]


def _pictures(folder: Path) -> Iterator[tuple[str, str]]:
    for name in PICTURES:
        for file in sorted(folder.glob(f"{name}.*")):
            kind = {".svg": "svg+xml", ".png": "png"}.get(file.suffix)
            if kind:
                data = base64.b64encode(file.read_bytes()).decode()
                yield name, f"data:image/{kind};base64,{data}"


def _proofs(folder: Path) -> Iterator[Proof]:
    for file in sorted(folder.glob("proofs/*.json")):
        for row in _json(file):
            yield Proof(
                file.stem,
                row["name"],
                row.get("file", ""),
                row["success"],
                row.get("proof") or "",
                row.get("reason") or "",
                row.get("expansions", 0),
                row.get("seconds", 0.0),
            )
    for row in _lines(folder / "proofs.jsonl"):
        yield Proof("", row["full_name"], row["file_path"], True, row["proof"], "", 0, 0.0)


def _trees(folder: Path) -> Iterator[tuple[str, str]]:
    from lean_dojo_v2.prover.drawing import draw
    from lean_dojo_v2.prover.search_tree import SearchTree

    for file in sorted(folder.glob("**/trees/**/*.json")):
        tree = SearchTree.from_dict(_json(file))
        drawn = base64.b64encode(draw(tree, most=80).encode()).decode()
        yield f"{file.parent.name}: {tree.name}", f"data:image/svg+xml;base64,{drawn}"


def _environment() -> dict[str, str]:
    found = {"Python": platform.python_version(), "system": platform.platform()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    for info in registry.current().plugins:
        if not info.builtin:
            found[f"plugin {info.name}"] = f"{info.version} ({info.status})"
    return found


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", path=file) from error


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """Read a JSONL file; a line that a killed process left half written is passed over."""
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row
