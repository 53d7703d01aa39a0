"""Retrieve premises for states: a model, a corpus and their index."""

import difflib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from lean_dojo_core import Position, Premise, remove_marks
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Mask, pack_position
from lean_dojo_plugins.retrieval.data.examples import Example
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.model.ranking import Scores, measured, top_k
from lean_dojo_plugins.training import choose_device
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.files import atomic_writer

log = logging.getLogger(__name__)


@attrs.frozen
class Retrieved:
    """A retrieved premise; its score is the cosine with the state, -1 to 1."""

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
    """A model with a corpus that it has encoded."""

    model: PremiseRetriever
    corpus: Corpus
    embeddings: torch.Tensor  # float32[P, D]: the encoded premises, of norm 1
    index_file: Path | None = None  # where they are kept, for a checkpoint file

    @classmethod
    def of(cls, model: PremiseRetriever, corpus: Corpus, checkpoint: Path | None) -> Self:
        """Take the index beside a checkpoint file, made if missing or stale; else make one."""
        file = None if checkpoint is None else index_beside(checkpoint, corpus)
        if file is not None and file.is_file():
            try:
                return cls.load(file, model, corpus)
            except CheckpointError as error:
                log.warning("%s; making it again", error)
        model.eval()
        tokens = model.tokens(corpus.texts)
        made = cls(model, corpus, model.embed_all(tokens, description="Indexing premises"), file)
        if file is not None:
            made.save(file)
        return made

    @classmethod
    def load(cls, path: Path, model: PremiseRetriever, corpus: Corpus) -> Self:
        """Read an index; ``CheckpointError`` if it is broken or of another model or corpus."""
        wanted = _fingerprint(model, corpus)
        try:
            with safe_open(str(path), framework="pt", device=str(model.device)) as file:
                found = (file.metadata() or {}).get("fingerprint")
                if found != wanted:
                    raise CheckpointError(
                        f"{path} was made with another model or another corpus (fingerprint "
                        f"{found}, wanted {wanted}); make it again with `lean-dojo index`"
                    )
                return cls(model, corpus, file.get_tensor("embeddings"), path)
        except (OSError, SafetensorError) as error:
            raise CheckpointError(f"{path} cannot be read as an index: {error}") from error

    def save(self, path: Path) -> None:
        """Write the index atomically."""
        tensors = {"embeddings": self.embeddings.contiguous().cpu()}
        metadata = {"fingerprint": _fingerprint(self.model, self.corpus)}
        with atomic_writer(path) as stream:
            save_file(tensors, stream.name, metadata)

    @classmethod
    def open(
        cls,
        checkpoint: Path | str,
        corpus_path: Path | str,
        *,
        device: str = "auto",
        index_path: Path | None = None,
    ) -> Self:
        """Load a checkpoint and a corpus; take the index beside the checkpoint or make it."""
        corpus = Corpus.read(corpus_path)
        model = PremiseRetriever.load(checkpoint, choose_device(device).name)
        if index_path is not None:
            return cls.load(index_path, model, corpus)
        return cls.of(model, corpus, Path(checkpoint) if Path(checkpoint).is_file() else None)

    def score(self, examples: Sequence[Example], k: int) -> Scores:
        """Measure it on examples, on the ``k`` best premises of each; at least 10."""
        tokens = self.model.tokens(one.state for one in examples)
        queries = self.model.embed_all(tokens, description="Encoding states")
        usable = (self.corpus.visibility.mask(one.file, one.before) for one in examples)
        _, found = top_k(queries, self.embeddings, k, usable)
        pairs = zip(found.numpy(), examples, strict=True)
        return Scores.of([measured(retrieved, one.positives) for retrieved, one in pairs])

    def retrieve(
        self,
        states: Sequence[str],
        places: Sequence[tuple[str, Position | None] | None] | None = None,
        *,
        k: int = 10,
    ) -> list[list[Retrieved]]:
        """Find up to ``k`` premises for each state, best first; all states are one batch.

        Each state's place is its theorem's file and start in it (``None``: its end), so that only
        what the theorem may use is retrieved; ``None``: everything. Raises ``UsageError`` for an
        unknown file.
        """
        if k < 1:
            raise UsageError(f"k={k}: ask for at least one premise")
        queries = self.model.embed_all(self.model.tokens(map(remove_marks, states)))
        usable = map(self._usable, places or [None] * len(states))
        scores, numbers = top_k(queries, self.embeddings, k, usable)
        return [
            [
                Retrieved(self.corpus.premises[number], self.corpus.path_of(number), score)
                for number, score in zip(numbers_of, scores_of, strict=True)
                if number >= 0
            ]
            for numbers_of, scores_of in zip(numbers.tolist(), scores.tolist(), strict=True)
        ]

    def _usable(self, place: tuple[str, Position | None] | None) -> Mask:
        if place is None:
            return np.ones(len(self.corpus), dtype=np.bool_)
        path, before = place
        number = self.corpus.file_number(path)
        if number is None:
            near = difflib.get_close_matches(path, self.corpus.paths, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"the corpus has no file {path}.{hint}")
        end = pack_position(before) if before else np.iinfo(np.int64).max
        return self.corpus.visibility.mask(number, end)


def index_beside(checkpoint: Path, corpus: Corpus) -> Path:
    """Return the place of an index: beside the checkpoint, one for each corpus."""
    return checkpoint.with_name(f"{checkpoint.stem}.index-{corpus.fingerprint[:12]}.safetensors")


def _fingerprint(model: PremiseRetriever, corpus: Corpus) -> str:
    return f"{model.fingerprint()}-{corpus.fingerprint}"
