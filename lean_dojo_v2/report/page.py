"""Write the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined

from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.report.collect import Contents, collect, reasons

REPORT_FILE = "report.html"


@attrs.frozen
class Curriculum:
    """The repositories that a run learned from, in order.

    Attributes:
        name: The run's folder.
        trainer: The trainer's class, where it is known.
        steps: Address, commit, rows and optimiser steps of each; ``None`` for what is not known.
    """

    name: str
    trainer: str
    steps: list[dict[str, Any]]


@attrs.frozen
class Tile:
    """A number at the top of the page, and what it is about."""

    name: str
    value: str
    note: str


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Write one self-contained HTML page about a run; it loads nothing from elsewhere.

    Args:
        folder: The run's output folder.
        output: The page; ``report.html`` in the folder if not given.

    Returns:
        The page.

    Raises:
        UsageError: If no run is in the folder.
        DataError: If a file of it cannot be read.
    """
    environment = Environment(
        loader=PackageLoader("lean_dojo_v2.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    contents = collect(folder)
    text = environment.get_template("page.html.j2").render(
        run=contents,
        tiles=list(_tiles(contents)),
        curriculum=list(_curriculum(contents)),
        curved=any(run.curves or run.last or run.settings for run in contents.runs),
        judged=[run for run in contents.runs if run.verified is not None],
        screened=[run for run in contents.runs if run.refused is not None],
        reasons=reasons,
    )
    page = output or folder / REPORT_FILE
    atomic_write_text(page, text)
    return page


def _curriculum(contents: Contents) -> Iterator[Curriculum]:
    for run in contents.runs:
        if run.steps:
            yield Curriculum(run.name, run.trainer, run.steps)
    told = {run.name for run in contents.runs if run.steps}
    for forgot in contents.forgotten:
        if forgot.name not in told:
            names = [str(step["after"]).partition("@") for step in forgot.matrix.steps]
            unknown = {"rows": None, "optimizer_steps": None}
            steps = [{"url": name, "commit": commit, **unknown} for name, _, commit in names]
            yield Curriculum(forgot.name, "", steps)


def _tiles(contents: Contents) -> Iterator[Tile]:
    """Give the numbers that a reader looks for first."""
    if (best := contents.best_stage) is not None:
        tried = contents.proofs_by_stage[best]
        note = f"theorems, with {best}" if best else "theorems"
        yield Tile("Proved", f"{sum(proof.success for proof in tried)} of {len(tried)}", note)
    for run in contents.runs:
        if run.verified_trend is not None:
            first, last = run.verified_trend.first, run.verified_trend.last
            yield Tile("Verified rate", f"{last:.1%}", f"{run.name}; it began at {first:.1%}")
        if run.refused is not None:
            refused = sum(run.refused.values())
            yield Tile("Refused or no tactic", f"{refused:.1%}", f"{run.name}, mean over the run")
    if contents.datasets:
        largest = max(contents.datasets, key=lambda data: data.totals.get("total_theorems", 0))
        count = len(largest.repositories)
        note = f"theorems of {count} {'repository' if count == 1 else 'repositories'}"
        yield Tile("Data", f"{largest.totals.get('total_theorems', 0):,}", note)
    for forgot in contents.forgotten:
        if (lost := forgot.matrix.forgotten()) is not None:
            yield Tile("Forgotten", f"{lost:.3g}", f"{forgot.matrix.metric}; {forgot.name}")
