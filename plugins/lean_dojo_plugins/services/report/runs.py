"""Contents of a training run's folder: curriculum, settings, metrics, plots."""

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_v2 import runs as records
from lean_dojo_v2.files import STATE_FILE, read_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@attrs.frozen
class RunReport:
    """One training run, named by its folder below the output folder."""

    name: str
    trainer: str
    settings: dict[str, str]
    steps: list[dict[str, Any]]
    """For each finished repository: address, commit, rows, optimiser steps."""
    curves: list[str]
    verified: str | None
    verified_rates: list[float]
    """The verified rate of each step."""
    refusals: str | None
    refused: dict[str, float] | None
    """Mean share of the completions for each reason, the most frequent first."""
    last: dict[str, float]
    """The last reported value of each metric."""


@attrs.frozen
class Forgot:
    """The forgetting matrix of a run, with its picture if anything could be measured."""

    name: str
    matrix: records.Forgetting
    picture: str | None


def runs(root: Path) -> list[RunReport]:
    """Find the runs below an output folder, in the order in which they began."""
    marks = (STATE_FILE, records.METRICS_FILE)
    folders = {file.parent for mark in marks for file in root.rglob(mark)}
    found = [(_began(folder), str(folder), _run(root, folder)) for folder in folders]
    return [run for *_, run in sorted(found, key=lambda item: item[:2])]


def matrices(root: Path) -> list[Forgot]:
    """Find the forgetting matrices below an output folder."""
    found = []
    for file in sorted(root.rglob(records.FORGETTING_FILE)):
        name, matrix = _name(root, file.parent), records.Forgetting.load(file)
        alt = f"{matrix.metric} on each repository after each step of {name}"
        found.append(Forgot(name, matrix, _picture(matrix.draw(), alt)))
    return found


_CLASS = re.compile(r"\w+(\.\w+)*\.(?P<name>[A-Za-z_]\w*)")


def without_classes(value: Any) -> Any:
    """Return a setting as its user wrote it, without class names.

    >>> without_classes([["short", 0.1, {"some_plugin.rewards.Short": {"best": 2}}]])
    [['short', 0.1, {'best': 2}]]
    >>> without_classes([["constant", 1.0, {"plugin.Constant": {}}], ["f", 1.0, "module.f"]])
    [['constant', 1.0], ['f', 1.0]]
    """
    if isinstance(value, dict):
        if len(value) == 1 and _CLASS.fullmatch(name := next(iter(value))):
            inner = value[name]
            return without_classes(inner) if isinstance(inner, dict) else name
        return {key: without_classes(one) for key, one in value.items()}
    if isinstance(value, list):
        if len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], int | float):
            function = without_classes(value[2])  # a reward: name, weight, function
            plain = isinstance(function, str) or not function
            return value[:2] if plain else [*value[:2], function]
        return [without_classes(one) for one in value]
    return value


def _began(folder: Path) -> float:
    first = next(iter(records.read_metrics(folder)), {})
    return float(first.get("time", float("inf")))


def _name(root: Path, folder: Path) -> str:
    return str(folder.relative_to(root)) if folder != root else folder.absolute().name


def _run(root: Path, folder: Path) -> RunReport:
    state_file = folder / STATE_FILE
    state = read_json(state_file) if state_file.exists() else {}
    rows = records.read_metrics(folder)
    name = _name(root, folder)
    drawn = {
        "training loss": records.plot_loss(rows),
        "reward": records.plot_rewards(rows),
        "recall": records.plot_recall(rows),
    }
    return RunReport(
        name=name,
        trainer=state.get("trainer", ""),
        settings={
            k: json.dumps(without_classes(v), ensure_ascii=False)
            for k, v in state.get("settings", {}).items()
            if v not in (None, {}, [])
        },
        steps=state.get("finished", []),
        curves=[p for what, f in drawn.items() if (p := _picture(f, f"{what} of {name}"))],
        verified=_picture(records.plot_verified(rows), f"verified rate of {name} over the steps"),
        verified_rates=[row["lean/verified"] for row in rows if "lean/verified" in row],
        refusals=_picture(
            records.plot_refusals(rows), f"refusals of {name} by reason over the steps"
        ),
        refused=records.refusal_shares(rows),
        last=records.last_metrics(rows),
    )


def _picture(figure: "Figure | None", alt: str) -> str | None:
    if figure is None:
        return None
    frame = f'<figure class="chart" role="img" aria-label="{escape(alt)}">'
    return f"{frame}{records.inline_svg(figure)}</figure>"
