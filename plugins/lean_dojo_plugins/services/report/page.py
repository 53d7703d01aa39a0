"""Writes the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from lean_dojo_plugins.services.report.collect import BASELINES, Contents, collect, reasons
from lean_dojo_plugins.services.report.words import EXPLAINED, explain
from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.wording import counted

REPORT_FILE = "report.html"


@attrs.frozen
class Tile:
    """A number at the top of the page, with its label and explanation."""

    name: str
    value: str
    note: str
    help: str


def write_report(
    folder: Path, output: Path | None = None, contents: Contents | None = None
) -> Path:
    """Write one self-contained HTML page about a run; it loads nothing from elsewhere.

    Args:
        folder: The run's output folder.
        output: The page; ``report.html`` in the folder if not given.
        contents: The result of :func:`collect`, if already known.

    Raises:
        UsageError: If no run is in the folder.
        DataError: If a file of it cannot be read.
    """
    contents = contents or collect(folder)
    text = template("page.html.j2").render(
        run=contents,
        tiles=list(_tiles(contents)),
        curriculum=list(_curriculum(contents)),
        curved=any(run.curves or run.last or run.settings for run in contents.runs),
        judged=[run for run in contents.runs if run.verified is not None],
        screened=[run for run in contents.runs if run.refused is not None],
        reasons=reasons,
        explained=EXPLAINED,
        baselines=BASELINES,
        explain=explain,
    )
    page = output or folder / REPORT_FILE
    atomic_write_text(page, text)
    return page


def template(name: str) -> Template:
    """Return one of the templates."""
    environment = Environment(
        loader=PackageLoader("lean_dojo_plugins.services.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _curriculum(contents: Contents) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield the name and trainer of each run with the repositories that it learned from, in order.

    Each repository has an address, a commit, rows and optimiser steps; unknown values are ``None``.
    """
    known = {run.name: (run.name, run.trainer, run.steps) for run in contents.runs if run.steps}
    yield from known.values()
    for forgot in contents.forgotten:
        if forgot.name not in known:
            names = [str(step["after"]).partition("@") for step in forgot.matrix.steps]
            unknown = {"rows": None, "optimizer_steps": None}
            steps = [{"url": name, "commit": commit, **unknown} for name, _, commit in names]
            yield forgot.name, "", steps


def _tiles(contents: Contents) -> Iterator[Tile]:
    """Yield the most important numbers."""
    if (best := contents.best_stage) is not None:
        proved, tried = contents.proved[best]
        note = f"theorems, with {best}" if best else "theorems"
        for name, (others, of) in contents.baselines.items():
            note += f"; {name}: {others} of {of}"
        yield Tile("Proved", f"{proved} of {tried}", note, EXPLAINED["proved"])
    for run in contents.runs:
        if run.verified_trend is not None:
            trend = run.verified_trend
            shown, note = trend.last, f"{run.name}; it began at {trend.first:.1%}"
            help_text = EXPLAINED["verified"]
            if trend.is_short:
                steps = counted(trend.steps, "step", "steps")
                shown, note = trend.mean, f"{run.name}, mean of {steps}"
                if trend.least < trend.most:
                    note += f" between {trend.least:.1%} and {trend.most:.1%}"
                help_text = EXPLAINED["verified, in all"]
            yield Tile("Verified rate", f"{shown:.1%}", note, help_text)
        if run.refused is not None:
            refused = sum(run.refused.values())
            note = f"{run.name}, mean over the run"
            yield Tile("Refused or no tactic", f"{refused:.1%}", note, EXPLAINED["refused"])
    if contents.datasets:
        largest = max(contents.datasets, key=lambda data: data.totals.get("total_theorems", 0))
        count = len(largest.repositories)
        note = f"theorems of {count} {'repository' if count == 1 else 'repositories'}"
        value = f"{largest.totals.get('total_theorems', 0):,}"
        yield Tile("Data", value, note, EXPLAINED["theorems"])
    for forgot in contents.forgotten:
        if (lost := forgot.matrix.forgotten()) is not None:
            note = f"{forgot.matrix.metric}; {forgot.name}"
            yield Tile("Forgotten", f"{lost:.3g}", note, EXPLAINED["forgotten"])


def summary(contents: Contents) -> dict[str, Any]:
    """Return the numbers of a page as plain data."""
    return {
        "title": contents.title,
        "tiles": [attrs.asdict(tile) for tile in _tiles(contents)],
        "proved": {
            stage: {"proved": proved, "tried": tried}
            for stage, (proved, tried) in contents.proved.items()
        },
        "runs": {
            run.name: {"trainer": run.trainer, "metrics": run.last, "settings": run.settings}
            for run in contents.runs
        },
    }
