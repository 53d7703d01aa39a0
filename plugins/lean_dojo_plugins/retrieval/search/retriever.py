"""Retrieve premises for states: a model, a corpus and their index."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import torch

from lean_dojo_core import Position, Premise, remove_marks
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position
from lean_dojo_plugins.retrieval.data.tokenizer import load_tokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_plugins.retrieval.model.checkpoints import load_frozen
from lean_dojo_plugins.retrieval.model.embedding import embed_all
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.topk import UsableAt, top_k
from lean_dojo_plugins.retrieval.search.index import PremiseIndex, path_beside
from lean_dojo_plugins.training.devices import choose_device

__all__ = ["Retrieved", "Retriever"]


@attrs.frozen
class Retrieved:
    """A retrieved premise.

    Attributes:
        premise: The premise.
        path: Its file.
        score: Cosine with the state, -1 to 1.
    """

    premise: Premise
    path: str
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "full_name": self.premise.full_name,
            "path": self.path,
            "start": list(self.premise.start),
            "code": self.premise.code,
            "score": self.score,
        }


@attrs.frozen(eq=False)
class Retriever:
    """A retriever with corpus and index.

    Attributes:
        model: The encoder, frozen.
        corpus: The premises.
        index: Their embeddings.
        index_file: Where the index is kept; ``None`` for a model without a checkpoint file.
    """

    model: PremiseRetriever
    corpus: Corpus
    index: PremiseIndex
    index_file: Path | None = None

    @classmethod
    def open(
        cls,
        checkpoint: Path | str,
        corpus_path: Path | str,
        *,
        device: torch.device | str | None = None,
        index_path: Path | str | None = None,
    ) -> Retriever:
        """Load a checkpoint and a corpus; take the index beside the checkpoint or make it.

        Args:
            checkpoint: A Lightning checkpoint, a hub id or a local folder.
            corpus_path: The ``corpus.jsonl``.
            device: Where to compute; default: a GPU if there is one.
            index_path: An index to use instead.

        Raises:
            CheckpointError: If the checkpoint cannot be loaded, or ``index_path`` is not of
                this model and corpus.
            DataError: If the corpus cannot be read.
        """
        corpus = Corpus.read(corpus_path)
        model = load_frozen(checkpoint, device or choose_device().name)
        if index_path is not None:
            given = PremiseIndex.load(index_path, model, corpus)
            return cls(model, corpus, given, Path(index_path))
        file = Path(checkpoint) if Path(checkpoint).is_file() else None
        kept = None if file is None else path_beside(file, corpus)
        return cls(model, corpus, PremiseIndex.for_checkpoint(file, model, corpus), kept)

    def retrieve(
        self,
        states: Sequence[str],
        *,
        k: int = 10,
        file_path: str | None = None,
        before: Position | None = None,
    ) -> list[list[Retrieved]]:
        """Find the best premises of states of one theorem; see :meth:`retrieve_at`.

        Args:
            states: Goals as Lean prints them.
            k: Premises per state.
            file_path: File of the theorem: only what it may use is retrieved. Default: everything.
            before: Start of the theorem in that file; default: its end.
        """
        place = None if file_path is None else (file_path, before)
        return self.retrieve_at(states, [place] * len(states), k=k)

    def retrieve_at(
        self,
        states: Sequence[str],
        places: Sequence[tuple[str, Position | None] | None],
        *,
        k: int = 10,
    ) -> list[list[Retrieved]]:
        """Find the best premises of states of different theorems, in one batch.

        Args:
            states: Goals as Lean prints them.
            places: For each its theorem's file and start in it (``None``: its end), so that only
                what the theorem may use is retrieved; ``None``: everything.
            k: Premises per state; fewer where fewer can be used.

        Returns:
            For each state its premises, best first.

        Raises:
            UsageError: If ``k`` is below 1 or the corpus does not have a file.
        """
        if k < 1:
            raise UsageError(f"k={k}: ask for at least one premise")
        found: list[list[Retrieved]] = [[] for _ in states]
        queries = self._embed(states)
        for placed in (True, False):
            chosen = [i for i, place in enumerate(places) if (place is not None) is placed]
            if chosen:
                usable = self._usable([p for p in places if p]) if placed else None
                hits = self._top(queries[chosen], k, usable)
                for index, retrieved in zip(chosen, hits, strict=True):
                    found[index] = retrieved
        return found

    def _usable(self, places: Sequence[tuple[str, Position | None]]) -> UsableAt:
        end = np.iinfo(np.int64).max
        files = [self._file(path) for path, _ in places]
        starts = [pack_position(before) if before else end for _, before in places]
        return UsableAt(
            self.corpus.visibility,
            np.array(files, dtype=np.int64),
            np.array(starts, dtype=np.int64),
        )

    def _top(self, queries: torch.Tensor, k: int, usable: UsableAt | None) -> list[list[Retrieved]]:
        scores, numbers = top_k(queries, self.index.embeddings, k, usable)
        return [
            [
                Retrieved(self.corpus[number], self.corpus.path_of(number), score)
                for number, score in zip(numbers_of, scores_of, strict=True)
                if number >= 0
            ]
            for numbers_of, scores_of in zip(numbers.tolist(), scores.tolist(), strict=True)
        ]

    def _embed(self, states: Sequence[str]) -> torch.Tensor:
        tokenizer = load_tokenizer(self.model.tokenizer_name)
        texts = [remove_marks(state) for state in states]
        return embed_all(self.model, TokenStore.build(texts, tokenizer, self.model.max_seq_len))

    def _file(self, path: str) -> int:
        number = self.corpus.file_number(path)
        if number is None:
            near = difflib.get_close_matches(path, self.corpus.paths, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"the corpus has no file {path}.{hint}")
        return number
