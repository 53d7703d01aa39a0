"""Evaluate a model on dataset folders, beside BM25; the table of its metrics, with notes."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import bm25s
import numpy as np
import orjson

from lean_dojo_core import DatasetFormatter, Evaluation
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Numbers
from lean_dojo_plugins.retrieval.data.examples import Example, make_examples
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.ranking import METRICS, Scores, measured
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_v2.database import read_theorems
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text

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
_WORD = re.compile(r"[^\W_]+|[^\w\s]")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(text: str) -> list[str]:
    """Split Lean text into the words that names are made of, and single symbols.

    >>> words("⊢ Nat.add_comm (isPrime p)")
    ['⊢', 'nat', '.', 'add', 'comm', '(', 'is', 'prime', 'p', ')']
    """
    return [part.lower() for word in _WORD.findall(text) for part in _CASE.split(word) if part]


class BM25:
    """BM25 over a corpus's premises (bm25s, Lucene's variant)."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._index: Any = bm25s.BM25()
        if len(corpus):
            self._index.index([words(text) for text in corpus.texts], show_progress=False)

    def top(self, state: str, usable: Numbers, k: int) -> list[int]:
        """Return the best usable premises of a state, best first."""
        if not len(usable):
            return []
        known = [word for word in words(state) if word in self._index.vocab_dict]
        if not known:
            return usable[:k].tolist()  # type: ignore[no-any-return]
        scores = np.asarray(self._index.get_scores(known))[usable]
        order = np.argsort(-scores, kind="stable")[:k]
        return usable[order].tolist()  # type: ignore[no-any-return]

    def score(self, examples: Sequence[Example], k: int) -> Scores:
        """Measure it on examples; ties go to the premise that comes first in the corpus."""
        rows = []
        for one in examples:
            usable = np.flatnonzero(self._corpus.visibility.mask(one.file, one.before))
            rows.append(measured(self.top(one.state, usable, k), one.positives))
        return Scores.of(rows)


@attrs.frozen(kw_only=True)
class Row:
    """One line of the table; its metrics are means over the tactics that have positives."""

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
    """All rows of an evaluation; ``str()`` of it is the table.

    ``report["merged"]["random"]["R@10"]`` is the retriever's number.
    """

    rows: tuple[Row, ...]
    learned: tuple[str, ...] = ()  # split strategies that the model was trained on

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
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines]
        table.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
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
    """Return the dataset folders at a path: itself, or its subfolders that hold a corpus."""
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
    """Evaluate on every dataset folder at a path, with BM25 beside the model."""
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
