"""Examples: every tactic with the premises it uses, as arrays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from lean_dojo_core import DatasetFormatter, Theorem
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Numbers, pack_position
from lean_dojo_v2.database.export.read import read_theorems

log = logging.getLogger(__name__)


@attrs.frozen(eq=False)
class RetrievalExamples:
    """The tactics of a split that use at least one premise of the corpus.

    Attributes:
        states: The goal states before the tactics: the queries.
        files: ``int64[E]``: the file of each tactic's theorem.
        befores: ``int64[E]``: packed start of the theorem; premises that end before it are
            accessible.
        positive_starts: ``int64[E + 1]``: where each tactic's positives start.
        positives: The positives of all tactics, premise numbers, each tactic's sorted and unique.
        num_theorems: Theorems of the split, including those without such a tactic.
    """

    states: Sequence[str]
    files: Numbers
    befores: Numbers
    positive_starts: Numbers
    positives: Numbers
    num_theorems: int

    @classmethod
    def read(
        cls,
        path: Path | str,
        corpus: Corpus,
        formatter: DatasetFormatter,
        keep: Callable[[Theorem], bool] | None = None,
    ) -> RetrievalExamples:
        """Read a split file.

        Args:
            path: ``train.json``, ``val.json`` or ``test.json``.
            corpus: Corpus of its premises.
            formatter: Gives the columns ``state`` and ``premises``.
            keep: Which theorems to take; default: all.

        Raises:
            DataError: If the file is missing or bad, or the formatter lacks a column.
        """
        return cls.build(filter(keep, read_theorems(path)), corpus, formatter, source=path)

    @classmethod
    def build(
        cls,
        theorems: Iterable[Theorem],
        corpus: Corpus,
        formatter: DatasetFormatter,
        *,
        source: Path | str = "theorems",
    ) -> RetrievalExamples:
        """Collect the examples of theorems; items outside the corpus are counted and logged.

        Raises:
            DataError: If the formatter lacks a column.
        """
        found = _Found(corpus)
        rows = list(found.rows(theorems, formatter))
        found.report(source)
        positives = [row["positives"] for row in rows]
        return cls(
            states=[row["state"] for row in rows],
            files=np.array([row["file"] for row in rows], dtype=np.int64),
            befores=np.array([row["before"] for row in rows], dtype=np.int64),
            positive_starts=np.cumsum([0, *map(len, positives)], dtype=np.int64),
            positives=np.array(list(chain.from_iterable(positives)), dtype=np.int64),
            num_theorems=found.theorems,
        )

    def __len__(self) -> int:
        return len(self.files)

    def positives_of(self, example: int) -> Numbers:
        """Return the positive premises of one tactic."""
        return self.positives[self.positive_starts[example] : self.positive_starts[example + 1]]

    def pairs(self) -> tuple[Numbers, Numbers]:
        """Return the training items: for each (tactic, positive) the example and the premise."""
        counts = np.diff(self.positive_starts)
        return np.repeat(np.arange(len(self), dtype=np.int64), counts), self.positives


class _Found:
    """Collects the examples of theorems."""

    def __init__(self, corpus: Corpus) -> None:
        self.theorems = 0
        self._corpus = corpus
        self._unknown_files: set[str] = set()
        self._lost = 0

    def rows(
        self, theorems: Iterable[Theorem], formatter: DatasetFormatter
    ) -> Iterator[dict[str, Any]]:
        for theorem in theorems:
            self.theorems += 1
            file = self._corpus.file_number(theorem.file_path)
            if file is None:
                self._unknown_files.add(theorem.file_path)
                continue
            before = pack_position(theorem.start)
            for row in formatter.rows(theorem):
                try:
                    state, premises = row["state"], row["premises"]
                except KeyError as error:
                    raise DataError(
                        f"the formatter {type(formatter).__name__} gives no column {error}; "
                        "retrieval needs the columns 'state' and 'premises'"
                    ) from error
                if positives := self._located(premises):
                    yield {"state": state, "file": file, "before": before, "positives": positives}

    def _located(self, premises: Iterable[dict[str, Any]]) -> list[int]:
        found = [self._corpus.locate(p["def_path"], p["def_pos"], p["full_name"]) for p in premises]
        self._lost += found.count(None)
        return sorted({number for number in found if number is not None})

    def report(self, source: Path | str) -> None:
        if self._unknown_files:
            log.warning(
                "%s: theorems of %d file(s) that the corpus lacks were left out, for example %s",
                source,
                len(self._unknown_files),
                min(self._unknown_files),
            )
        if self._lost:
            log.info(
                "%s: %d premise(s) are not in the corpus and were left out", source, self._lost
            )
