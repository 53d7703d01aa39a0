"""Writes the page."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from lean_dojo_core.wording import counted
from lean_dojo_plugins.services.report.collect import BASELINES, Contents, collect, reasons
from lean_dojo_v2.files import atomic_write_text

REPORT_FILE = "report.html"
SHORT = 10
"""Minimum number of steps for a trend from the first to the last fifth."""


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
    """Write one self-contained HTML page about a run's folder; it loads nothing from elsewhere."""
    contents = contents or collect(folder)
    text = template("page.html.j2").render(
        run=contents,
        tiles=list(_tiles(contents)),
        curriculum=list(_curriculum(contents)),
        curved=any(run.curves or run.last or run.settings for run in contents.runs),
        judged=[run for run in contents.runs if run.verified_rates],
        screened=[run for run in contents.runs if run.refused is not None],
        reasons=reasons,
        explained=EXPLAINED,
        baselines=BASELINES,
        explain=explain,
        short=SHORT,
        mean=fmean,
        fifths=_fifths,
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
    """Yield the name and trainer of each run with the repositories that it learned from."""
    known = {run.name: (run.name, run.trainer, run.steps) for run in contents.runs if run.steps}
    yield from known.values()
    for forgot in contents.forgotten:
        if forgot.name not in known:
            names = [str(step["after"]).partition("@") for step in forgot.matrix.steps]
            unknown = {"rows": None, "optimizer_steps": None}
            steps = [{"url": name, "commit": commit, **unknown} for name, _, commit in names]
            yield forgot.name, "", steps


def _tiles(contents: Contents) -> Iterator[Tile]:
    if (best := contents.best_stage) is not None:
        proved, tried = contents.proved[best]
        note = f"theorems, with {best}" if best else "theorems"
        for name, (others, of) in contents.baselines.items():
            note += f"; {name}: {others} of {of}"
        yield Tile("Proved", f"{proved} of {tried}", note, EXPLAINED["proved"])
    for run in contents.runs:
        if rates := run.verified_rates:
            first, shown = _fifths(rates)
            note, help_text = f"{run.name}; it began at {first:.1%}", EXPLAINED["verified"]
            if len(rates) < SHORT:
                steps = counted(len(rates), "step", "steps")
                shown, note = fmean(rates), f"{run.name}, mean of {steps}"
                if min(rates) < max(rates):
                    note += f" between {min(rates):.1%} and {max(rates):.1%}"
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


def _fifths(rates: list[float]) -> tuple[float, float]:
    """Return the means over the first fifth of the steps and over the last."""
    part = max(1, len(rates) // 5)
    return fmean(rates[:part]), fmean(rates[-part:])


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


EXPLAINED = {
    "proved": "Theorems with a fully verified proof: no error, no sorry, no new "
    "axiom, the statement unchanged.",
    "gained": "Theorems that the model with automation beside it proves, and automation alone does "
    "not.",
    "lost": "Theorems that automation alone proves, and the model with automation beside it does "
    "not.",
    "difference": "Share of theorems proved less automation's, in percentage points, with its 95 % "
    "interval (Newcombe 1998, paired).",
    "p": "Two-sided p-value of the exact paired test (McNemar) against automation alone.",
    "verified": "Share of the sampled tactics that Lean accepted and that make progress towards a "
    "proof; mean over the last fifth of the steps.",
    "verified, in all": "Share of the sampled tactics that Lean accepted and that make "
    "progress towards a proof; mean over all steps, which are too few for a trend.",
    "refused": "Share of the completions that were refused: not a single tactic, or an attempt to "
    "cheat.",
    "share": "Share of all completions of the run that were refused for this reason.",
    "theorems": "Theorems in the exported data, of all splits.",
    "forgotten": "Mean loss of each earlier repository against its best value, in the metric's "
    "unit (Chaudhry et al. 2018); negative if they gained.",
    "step": "Which repository of the curriculum it was.",
    "rows": "Examples in the merged data of this and all earlier repositories.",
    "optimizer_steps": "Optimiser steps on this repository's data.",
    "states": "States of the search whose tactics were generated for this theorem.",
    "seconds": "Wall-clock seconds of the whole stage.",
}
"""Explanations by column or tile."""

_METRICS = {
    "loss": "Mean cross-entropy of the answer's tokens, in nats; of GRPO the policy's loss.",
    "eval_loss": "The same on held-out data.",
    "reward": "Mean of the weighted sum of the rewards.",
    "reward_std": "Spread of the rewards within a group of completions.",
    "kl": "How far the policy has moved from the model it started from, in nats per token.",
    "entropy": "Mean entropy of the next token, in nats; near 0 the model always says the same.",
    "grad_norm": "Norm of the gradient before clipping.",
    "learning_rate": "Step size of the optimiser.",
    "epoch": "Passes over the data so far.",
    "step": "Optimiser steps so far.",
    "num_tokens": "Tokens seen so far, of the repository under way.",
    "mean_token_accuracy": "Share of the answer's tokens that were the most probable.",
    "lean/verified": EXPLAINED["verified"],
    "lean/solved": "Share of the sampled tactics that leave no goal.",
}
_BEGINNINGS = {
    "rewards/": "Statistic of the reward of this name, over the completions of a step.",
    "lean/refused": "Share of the completions that were refused as an attempt to cheat.",
    "lean/unparsed": "Share of the completions that were not a single tactic.",
    "lean/": "Share of the completions for which Lean gave this verdict.",
    "completions/": "Statistic of the completions' lengths, in tokens.",
    "Recall@": "Percentage of a step's premises that are among the first k retrieved.",
    "R@": "Percentage of a step's premises that are among the first k retrieved.",
    "MRR": "Mean reciprocal rank of the first correct premise.",
    "clip_ratio": "Share of the tokens whose update was clipped.",
    "eval_": "The same number on held-out data.",
}


def explain(metric: str) -> str:
    """Return the explanation of a metric, or a generic one.

    >>> explain("lean/refused/sorry")
    'Share of the completions that were refused as an attempt to cheat.'
    """
    if metric in _METRICS:
        return _METRICS[metric]
    found = next((text for start, text in _BEGINNINGS.items() if metric.startswith(start)), None)
    return found or f"The last value of {metric!r} that the trainer logged."
