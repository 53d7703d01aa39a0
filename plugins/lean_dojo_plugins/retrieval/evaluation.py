"""Evaluate a model on dataset folders; the table of its metrics, with notes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core import DatasetFormatter, Evaluation
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus
from lean_dojo_plugins.retrieval.data.examples import make_examples
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.ranking import METRICS, Scores
from lean_dojo_plugins.retrieval.search.bm25 import BM25
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.database.export.read import read_theorems

log = logging.getLogger(__name__)

SPLITS = ("random", "novel_premises")
CORPUS = "corpus.jsonl"
ANCHORS = (
    "For orientation, ReProver on LeanDojo Benchmark 4 (R@1 / R@10 / MRR): "
    "random 12.8 / 34.7 / 0.29, novel_premises 9.8 / 32.1 / 0.24."
)
_HEADER = (
    *("dataset", "version", "split", "method", "theorems", "tactics", "premises"),
    *METRICS,
)


@attrs.frozen(kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        dataset: Name of the dataset's folder.
        version: Short digest of the corpus.
        split: ``random`` or ``novel_premises``.
        method: ``dense`` or ``bm25``.
        theorems: Theorems of the split that was measured.
        tactics: Tactics with positives, over which the metrics are means.
        premises: Premises of the corpus.
        scores: The metrics.
    """

    dataset: str
    version: str
    split: str
    method: str
    theorems: int
    tactics: int
    premises: int
    scores: Scores

    def cells(self) -> tuple[str, ...]:
        """Return the printed cells."""
        counts = (self.theorems, self.tactics, self.premises)
        measured = (
            f"{value:.{digits}f} ± {self.scores.margins[name]:.{digits}f}" if self.tactics else "-"
            for name, value in self.scores.values.items()
            for digits in [3 if name == "MRR" else 1]
        )
        return (self.dataset, self.version, self.split, self.method, *map(str, counts), *measured)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = attrs.asdict(self, recurse=False)
        return {**values, "scores": self.scores.values, "margins": self.scores.margins}


@attrs.frozen(kw_only=True)
class EvaluationReport(Evaluation):
    """All rows of an evaluation.

    ``report["merged"]["random"]["R@10"]`` is the retriever's number; ``str(report)`` the table.

    Attributes:
        rows: The lines.
        learned: Split strategies that the model was trained on.
    """

    rows: tuple[Row, ...]
    learned: tuple[str, ...] = ()

    def __getitem__(self, dataset: str) -> dict[str, dict[str, float]]:  # type: ignore[override]
        """Return the retriever's metrics of a dataset, by split."""
        found = {
            row.split: row.scores.values
            for row in self.rows
            if row.dataset == dataset and row.method == "dense"
        }
        if not found:
            raise KeyError(dataset)
        return found

    def __str__(self) -> str:
        """Return the table (Markdown), with notes."""
        lines = [_HEADER, *(row.cells() for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADER))]

        def line(cells: tuple[str, ...]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return f"| {' | '.join(padded)} |"

        rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
        table = [line(_HEADER), rule, *map(line, lines[1:])]
        notes = ["± is half of a 95 % interval over tactics.", *self._notes(), ANCHORS]
        return "\n".join([f"Checkpoint: {self.model}", "", *table, "", *notes])

    def _notes(self) -> list[str]:
        return [
            f"{row.dataset}/{row.split}: the model was trained on the splits of {others}, "
            "so perhaps on some of these theorems; these numbers may flatter it."
            for row in self.rows
            if row.method == "dense"
            and (others := ", ".join(one for one in self.learned if one != row.split))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"checkpoint": self.model, "rows": [row.to_dict() for row in self.rows]}

    def write(self, folder: Path) -> None:
        """Write ``evaluation.json`` and ``evaluation.md``."""
        text = orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2)
        atomic_write_bytes(folder / "evaluation.json", text)
        atomic_write_text(folder / "evaluation.md", f"{self}\n")


def dataset_folders(path: Path) -> list[Path]:
    """Return the dataset folders at a path: itself, or its subfolders that hold a corpus.

    Raises:
        DataError: If there is none.
    """
    if (path / CORPUS).is_file():
        return [path]
    found = sorted(folder.parent for folder in path.glob(f"*/{CORPUS}"))
    if not found:
        raise DataError(
            f"holds no dataset: neither {CORPUS} nor a subfolder with one. "
            "DynamicDatabase.export_merged_data writes a dataset",
            path=path,
        )
    return found


def evaluate(
    path: Path,
    *,
    model: PremiseRetriever,
    checkpoint: Path | None,
    formatter: DatasetFormatter,
    split: str,
    num_retrieved: int,
) -> EvaluationReport:
    """Evaluate on every dataset folder at a path, with BM25 beside the model.

    Args:
        path: A dataset folder, or a folder of such.
        model: The model, frozen.
        checkpoint: Its file; ``None`` for a model that is not from a checkpoint.
        formatter: Gives states and premises.
        split: ``"test"``, ``"val"`` or ``"train"``.
        num_retrieved: Premises retrieved per state.

    Raises:
        DataError: If there is no dataset, or one cannot be read.
    """
    rows = []
    for folder in dataset_folders(path):
        corpus = Corpus.read(folder / CORPUS)
        methods: dict[str, Retriever | BM25] = {
            "dense": Retriever.of(model, corpus, checkpoint),
            "bm25": BM25(corpus),
        }
        for strategy in SPLITS:
            file = folder / strategy / f"{split}.json"
            if not file.is_file():
                log.warning("%s is missing: %s is not evaluated", file, strategy)
                continue
            theorems = list(read_theorems(file))
            examples = make_examples(theorems, corpus, formatter, source=file)
            for method, retriever in methods.items():
                row = Row(
                    dataset=folder.name,
                    version=corpus.fingerprint[:8],
                    split=strategy,
                    method=method,
                    theorems=len(theorems),
                    tactics=len(examples),
                    premises=len(corpus),
                    scores=retriever.score(examples, max(num_retrieved, 10)),
                )
                rows.append(row)
                metrics = ", ".join(f"{key} {one:.4g}" for key, one in row.scores.values.items())
                log.info("%s %s %s: %s", row.dataset, row.split, row.method, metrics)
    dense = [row for row in rows if row.method == "dense"]
    return EvaluationReport(
        metrics={
            f"{row.dataset}/{row.split}/{name}": value
            for row in dense
            for name, value in row.scores.values.items()
        },
        examples=sum(row.tactics for row in dense),
        split=split,
        model=model.model_name if checkpoint is None else str(checkpoint),
        rows=tuple(rows),
        learned=model.split_strategies,
    )
