"""The BM25 baseline: retrieval by shared words, without any training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np

from lean_dojo_plugins.retrieval.data.corpus import Corpus, Numbers
from lean_dojo_plugins.retrieval.data.examples import Example
from lean_dojo_plugins.retrieval.model.ranking import Scores, measured

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
            usable = np.flatnonzero(one.usable(self._corpus.visibility))
            rows.append(measured(self.top(one.state, usable, k), one.positives))
        return Scores.of(rows)
