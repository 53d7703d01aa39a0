"""Evaluate a model on dataset folders."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import attrs
import orjson

from lean_dojo_core import DatasetFormatter
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus
from lean_dojo_plugins.retrieval.data.examples import RetrievalExamples
from lean_dojo_plugins.retrieval.data.tokenizer import load_tokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_plugins.retrieval.model.embedding import embed_all
from lean_dojo_plugins.retrieval.model.metrics import Scores, Tally
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.topk import UsableAt, top_k
from lean_dojo_plugins.retrieval.report import EvaluationReport, Row
from lean_dojo_plugins.retrieval.search.bm25 import BM25
from lean_dojo_plugins.retrieval.search.index import PremiseIndex

log = logging.getLogger(__name__)

SPLITS = ("random", "novel_premises")
CORPUS = "corpus.jsonl"


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


def score(
    model: PremiseRetriever,
    corpus: Corpus,
    index: PremiseIndex,
    examples: RetrievalExamples,
    k: int,
) -> Scores:
    """Measure a model on examples; ``k`` premises are retrieved for the reciprocal rank."""
    tally = Tally()
    if not len(examples):
        return tally.scores()
    tokenizer = load_tokenizer(model.tokenizer_name)
    queries = TokenStore.build(examples.states, tokenizer, model.max_seq_len)
    vectors = embed_all(model, queries, description="Encoding states")
    usable = UsableAt(corpus.visibility, examples.files, examples.befores)
    _, found = top_k(vectors, index.embeddings, max(k, 10), usable)
    for number, retrieved in enumerate(found.cpu().numpy()):
        tally.add(retrieved, examples.positives_of(number))
    return tally.scores()


@attrs.frozen(eq=False)
class Evaluator:
    """Everything that an evaluation needs.

    Attributes:
        model: The model, frozen.
        checkpoint: Its file; ``None`` for a model that is not from a checkpoint.
        formatter: Gives states and premises.
        num_retrieved: Premises retrieved per state.
        split: ``"test"``, ``"val"`` or ``"train"``.
    """

    model: PremiseRetriever
    checkpoint: Path | None
    formatter: DatasetFormatter
    num_retrieved: int
    split: str = "test"

    def run(self, path: Path) -> EvaluationReport:
        """Evaluate on every dataset folder at a path, with BM25 beside it.

        Raises:
            DataError: If there is no dataset, or one cannot be read.
        """
        rows = [row for folder in dataset_folders(path) for row in self._dataset(folder)]
        name = self.model.model_name if self.checkpoint is None else str(self.checkpoint)
        learned = self.model.split_strategies
        report = EvaluationReport.of(name, self.split, tuple(rows), learned)
        for row in rows:
            metrics = ", ".join(f"{key} {value:.4g}" for key, value in row.scores.values.items())
            log.info("%s %s %s: %s", row.dataset, row.split, row.method, metrics)
        return report

    def _dataset(self, folder: Path) -> Iterator[Row]:
        corpus = Corpus.read(folder / CORPUS)
        index = PremiseIndex.for_checkpoint(self.checkpoint, self.model, corpus)
        baseline = BM25(corpus)
        for split in SPLITS:
            file = folder / split / f"{self.split}.json"
            if not file.is_file():
                log.warning("%s is missing: %s is not evaluated", file, split)
                continue
            examples = RetrievalExamples.read(file, corpus, self.formatter)
            common = Row(
                dataset=folder.name,
                version=version_of(folder, corpus),
                split=split,
                method="dense",
                theorems=examples.num_theorems,
                tactics=len(examples),
                premises=len(corpus),
                scores=score(self.model, corpus, index, examples, self.num_retrieved),
            )
            yield common
            scores = baseline.evaluate(examples, max(self.num_retrieved, 10))
            yield attrs.evolve(common, method="bm25", scores=scores)


def version_of(folder: Path, corpus: Corpus) -> str:
    """Name a dataset's version: its repositories' commits and a digest of the corpus."""
    file = folder / "metadata.json"
    commits = ""
    if file.is_file():
        repositories = orjson.loads(file.read_bytes()).get("repositories") or []
        commits = "+".join(str(item.get("commit", ""))[:7] for item in repositories[:3])
        commits += "+…" if len(repositories) > 3 else ""
    return f"{commits}/{corpus.fingerprint[:8]}" if commits else corpus.fingerprint[:8]
