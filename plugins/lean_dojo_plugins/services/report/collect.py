"""Read the output folder of a run."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_plugins.services.report.runs import Forgot, RunReport, matrices, runs
from lean_dojo_v2 import prover
from lean_dojo_v2.benchmarks import AUTOMATION, PROVER, RUN_FILE, AttemptFolder
from lean_dojo_v2.files import COPY_FILE, METADATA_FILE, read_json, read_lines
from lean_dojo_v2.runs import ENVIRONMENT_FILE, environment

BASELINES = ("automation", "shipped")
"""Stages that are baselines."""
STATES_DRAWN = 40
"""Maximum number of states shown of a search tree."""


@attrs.frozen
class Proof:
    """A theorem tried at a stage, with its proof or the reason of failure."""

    stage: str
    name: str
    file: str
    success: bool
    proof: str
    reason: str
    expansions: int | None
    """States expanded; ``None`` if they were not recorded."""

    @property
    def opened(self) -> bool:
        """Whether Lean could open the theorem."""
        return self.reason != prover.Failure.CANNOT_OPEN


@attrs.frozen
class Dataset:
    """A dataset: its folder, its repositories in the order of the export, and its counts."""

    name: str
    repositories: list[dict[str, str]]
    totals: dict[str, int]


@attrs.frozen
class Contents:
    """Everything that the page shows."""

    title: str
    stages: list[dict[str, Any]]
    """What each model of a demo proves."""
    seconds: dict[str, float]
    datasets: list[Dataset]
    runs: list[RunReport]
    forgotten: list[Forgot]
    evaluations: list[tuple[str, dict[str, Any]]]
    """Name and content of each ``evaluation.json``."""
    proofs: list[Proof]
    trees: list[tuple[str, str]]
    """Name and inline SVG of each search tree."""
    environments: list[tuple[str, dict[str, str]]]

    @property
    def proofs_by_stage(self) -> dict[str, list[Proof]]:
        """The proofs of each stage, in the order of the stages."""
        order = [stage["stage"] for stage in self.stages]
        names = dict.fromkeys([*order, *(proof.stage for proof in self.proofs)])
        grouped = {name: [p for p in self.proofs if p.stage == name] for name in names}
        return {name: proofs for name, proofs in grouped.items() if proofs}

    @property
    def proved(self) -> dict[str, tuple[int, int]]:
        """For each stage the numbers of theorems proved and tried."""
        return {
            stage: (sum(proof.success for proof in proofs), len(proofs))
            for stage, proofs in self.proofs_by_stage.items()
        }

    @property
    def best_stage(self) -> str | None:
        """The stage with most proofs, a later one if equal; a baseline only if alone."""
        proved = self.proved
        rivals = [stage for stage in proved if stage not in BASELINES] or list(proved)
        return max(reversed(rivals), key=lambda stage: proved[stage][0], default=None)

    @property
    def baselines(self) -> dict[str, tuple[int, int]]:
        """The numbers of theorems proved and tried by the baselines."""
        best = self.best_stage
        return {s: one for s, one in self.proved.items() if s in BASELINES and s != best}


def reasons(proofs: list[Proof]) -> list[tuple[str, int]]:
    """Count why theorems were not proved, the most frequent reason first."""
    return Counter(proof.reason for proof in proofs if not proof.success).most_common()


def collect(folder: Path) -> Contents:
    """Read a trainer's ``output_dir``, or a folder that holds several."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    summary = read_json(folder / "summary.json") if (folder / "summary.json").exists() else {}
    contents = Contents(
        title=folder.absolute().name or "run",
        stages=summary.get("stages", []),
        seconds=summary.get("seconds", {}),
        datasets=_datasets(folder),
        runs=runs(folder),
        forgotten=matrices(folder),
        evaluations=[
            (str(file.relative_to(folder)), _evaluation(file))
            for file in sorted(folder.rglob("evaluation.json"))
        ],
        proofs=list(_proofs(folder)),
        trees=list(_trees(folder)),
        environments=_environments(folder),
    )
    if not (contents.runs or contents.proofs or contents.evaluations or contents.forgotten):
        raise UsageError(
            f"{folder}: it contains no run (no metrics.jsonl, training_state.json or "
            "proofs.jsonl); name the output_dir of a training run"
        )
    return contents


def _datasets(folder: Path) -> list[Dataset]:
    """Find the datasets in an output folder, and the trainers' copies of their metadata."""
    exported = [
        one for one in sorted(folder.rglob(METADATA_FILE)) if (one.parent / "random").is_dir()
    ]
    found: dict[frozenset[tuple[str, str]], Dataset] = {}
    for file in [*exported, *sorted(folder.rglob(COPY_FILE))]:
        data = read_json(file)
        if not isinstance(data, dict) or not isinstance(data.get("repositories"), list):
            continue  # another program's file of that name
        rows = [{**(item.get("metadata") or {}), **item} for item in data["repositories"]]
        keys = ("url", "name", "commit", "lean_version", "engine")
        texts = [{key: str(row.get(key) or "") for key in keys} for row in rows]
        repositories = [{**one, "name": one["name"] or one["url"]} for one in texts]
        name = str(file.parent.relative_to(folder)) if file.parent != folder else folder.name
        totals = {k: v for k, v in data.items() if isinstance(v, int)}
        contents = frozenset((one["url"], one["commit"]) for one in repositories)
        found.setdefault(contents, Dataset(name, repositories, totals))
    return list(found.values())


def _evaluation(file: Path) -> dict[str, Any]:
    data = read_json(file)
    if not isinstance(data, dict):
        raise DataError("not an evaluation: an object was expected", path=file)
    return data


def _proofs(folder: Path) -> Iterator[Proof]:
    for row in read_lines(folder / "proofs.jsonl"):
        yield Proof("", row["full_name"], row["file_path"], True, row["proof"], "", None)
    # And the first attempts of benchmark runs, a prover's and automation's.
    for file in sorted(folder.rglob(RUN_FILE)):
        run = AttemptFolder(file.parent)
        if not (file.parent / f"{PROVER}.jsonl").is_file():
            continue  # another program's file of that name
        label = str(run.request().get("prover", {}).get("label", PROVER))
        for who, stage in ((AUTOMATION, AUTOMATION), (PROVER, label)):
            for one in run.attempts(who):
                if one.number == 0 and not (who == AUTOMATION and label == AUTOMATION):
                    reason = one.reason or ""
                    yield Proof(
                        stage, one.name, "", one.success, one.proof or "", reason, one.expansions
                    )


def _trees(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.glob("**/trees/**/*.json")):
        tree = prover.SearchTree.load(file)
        yield f"{file.parent.name}: {tree.name}", prover.draw_tree(tree, most=STATES_DRAWN)


def _environments(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the environments that runs recorded, equal ones once; else that of this process."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for file in sorted(folder.rglob(ENVIRONMENT_FILE)):
        read = read_json(file)
        if not isinstance(read, dict):
            continue  # another program's file of that name
        versions = {str(k): str(v) for k, v in read.items()}
        found.setdefault(tuple(versions.items()), []).append(file.parent.name)
    if not found:
        return [("of this page; the runs recorded none", environment())]
    return [(f"of {', '.join(names)}", dict(versions)) for versions, names in found.items()]
