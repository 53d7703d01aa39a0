"""Comparison of runs: theorems proved, last metrics, different settings."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from lean_dojo_plugins.services.report.collect import Contents
from lean_dojo_plugins.services.report.page import EXPLAINED, explain, template
from lean_dojo_v2.files import atomic_write_text

Row: TypeAlias = tuple[str, list[Any], str]
"""Name, value in each run, and explanation."""

COMPARE_FILE = "compare.html"


def write_comparison(runs: Sequence[Contents], output: Path) -> Path:
    """Write one self-contained page with the numbers of several runs side by side."""
    data = compare(runs)
    zeros = [row for row in data["metrics"] if not any(row[1])]
    metrics = [row for row in data["metrics"] if any(row[1])]
    parts = [
        ("Proved", "Theorems with a fully verified proof.", data["proved"], []),
        ("Last metrics", "The last reported value of each number.", metrics, zeros),
        ("Settings that differ", "All others are the same in every run.", data["settings"], []),
    ]
    text = template("compare.html.j2").render(names=data["names"], parts=parts)
    atomic_write_text(output, text)
    return output


def compare(runs: Sequence[Contents]) -> dict[str, Any]:
    """Return the numbers of several runs side by side, in rows of :data:`Row`."""
    proved = [_proved(run) for run in runs]
    alone = all(len(run.runs) < 2 for run in runs)
    trainings = Counter(one.name for run in runs for one in run.runs)
    metrics = [_flat(run, "last", alone, set(trainings)) for run in runs]
    compared = {name for name, count in trainings.items() if alone or count > 1}
    settings = [_flat(run, "settings", alone, compared) for run in runs]
    return {
        "names": _names(runs),
        "proved": _rows(proved, lambda _: EXPLAINED["proved"]),
        "metrics": _rows(metrics, lambda name: explain(name.rpartition(": ")[2])),
        "settings": [
            row
            for row in _rows(settings, lambda name: f"The setting {name}.")
            if len(set(map(str, row[1]))) > 1
        ],
    }


def _names(runs: Sequence[Contents]) -> list[str]:
    titles = [run.title for run in runs]
    return [
        title if titles.count(title) == 1 else f"{title} ({number})"
        for number, title in enumerate(titles, 1)
    ]


def _proved(run: Contents) -> dict[str, Any]:
    return {
        stage or "theorems": f"{proved} of {tried}" for stage, (proved, tried) in run.proved.items()
    }


def _flat(run: Contents, what: str, alone: bool, trainings: Collection[str]) -> dict[str, Any]:
    """Return a part of some trainings, named by their folders unless each run has only one."""
    return {
        name if alone else f"{one.name}: {name}": value
        for one in run.runs
        if one.name in trainings
        for name, value in getattr(one, what).items()
    }


def _rows(found: Sequence[dict[str, Any]], explained: Any) -> list[Row]:
    names = dict.fromkeys(name for one in found for name in one)
    return [(name, [one.get(name) for one in found], explained(name)) for name in names]
