"""The evaluation table: metrics, data, and overlap with the training data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core import Evaluation
from lean_dojo_plugins.retrieval.model.metrics import RECALLS, Scores
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text

ANCHORS = (
    "For orientation, ReProver on LeanDojo Benchmark 4 (R@1 / R@10 / MRR): "
    "random 12.8 / 34.7 / 0.29, novel_premises 9.8 / 32.1 / 0.24."
)
_HEADER = (
    "dataset", "version", "split", "method", "theorems", "tactics", "premises",
    *(f"R@{k}" for k in RECALLS), "MRR",
)  # fmt: skip


@attrs.frozen(kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        dataset: Name of the dataset's folder.
        version: Short digest of the corpus, and the repositories' commits where known.
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

    @classmethod
    def of(
        cls, model: str, split: str, rows: tuple[Row, ...], learned: tuple[str, ...] = ()
    ) -> EvaluationReport:
        """Sum rows up; the metrics are the retriever's, as ``"merged/random/R@10"``."""
        dense = [row for row in rows if row.method == "dense"]
        metrics = {
            f"{row.dataset}/{row.split}/{name}": value
            for row in dense
            for name, value in row.scores.values.items()
        }
        examples = sum(row.tactics for row in dense)
        return cls(
            metrics=metrics, examples=examples, split=split, model=model, rows=rows, learned=learned
        )

    @property
    def checkpoint(self) -> str:
        """The evaluated model."""
        return self.model

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
        notes = []
        by_method = {(row.dataset, row.split, row.method): row for row in self.rows}
        for row in self.rows:
            if row.method != "dense":
                continue
            if others := ", ".join(one for one in self.learned if one != row.split):
                notes.append(
                    f"{row.dataset}/{row.split}: the model was trained on the splits of {others}, "
                    "so perhaps on some of these theorems; these numbers may flatter it."
                )
            baseline = by_method.get((row.dataset, row.split, "bm25"))
            found = row.scores.values["R@10"]
            if baseline and row.tactics and (by_words := baseline.scores.values["R@10"]) > found:
                notes.append(
                    f"{row.dataset}/{row.split}: BM25 finds more than this model "
                    f"(R@10 {by_words:.1f} to {found:.1f})."
                )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"checkpoint": self.model, "rows": [row.to_dict() for row in self.rows]}

    def write(self, folder: Path) -> None:
        """Write ``evaluation.json`` and ``evaluation.md``."""
        text = orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2)
        atomic_write_bytes(folder / "evaluation.json", text)
        atomic_write_text(folder / "evaluation.md", f"{self}\n")
