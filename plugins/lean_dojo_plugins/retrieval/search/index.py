"""The premise index: a corpus encoded by one model, stored beside the model's checkpoint."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import attrs
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from lean_dojo_plugins.retrieval.data.corpus import Corpus
from lean_dojo_plugins.retrieval.data.tokenizer import load_tokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_plugins.retrieval.model.embedding import embed_all
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_v2.errors import CheckpointError

log = logging.getLogger(__name__)


@attrs.frozen(eq=False)
class PremiseIndex:
    """Embeddings of all premises of a corpus.

    Attributes:
        embeddings: ``float32[P, D]``, each of norm 1.
        fingerprint: Digests of the model and of the corpus it was made from.
    """

    embeddings: torch.Tensor
    fingerprint: str

    @classmethod
    def build(cls, model: PremiseRetriever, corpus: Corpus) -> PremiseIndex:
        """Encode a corpus, longest premises first, with a progress bar."""
        tokenizer = load_tokenizer(model.tokenizer_name)
        store = TokenStore.build(corpus.texts, tokenizer, model.max_seq_len)
        model.eval()
        embeddings = embed_all(model, store, description="Indexing premises")
        return cls(embeddings, fingerprint(model, corpus))

    @classmethod
    def load(cls, path: Path | str, model: PremiseRetriever, corpus: Corpus) -> PremiseIndex:
        """Read an index.

        Raises:
            CheckpointError: If it is missing, broken, or belongs to another model or corpus.
        """
        wanted = fingerprint(model, corpus)
        try:
            with safe_open(str(path), framework="pt", device=str(model.device)) as file:
                found = (file.metadata() or {}).get("fingerprint")
                if found != wanted:
                    raise CheckpointError(
                        f"{path} was made with another model or another corpus (fingerprint "
                        f"{found}, wanted {wanted}); make it again with `lean-dojo index`"
                    )
                return cls(file.get_tensor("embeddings"), wanted)
        except (OSError, SafetensorError) as error:
            raise CheckpointError(f"{path} cannot be read as an index: {error}") from error

    @classmethod
    def for_checkpoint(
        cls, checkpoint: Path | None, model: PremiseRetriever, corpus: Corpus
    ) -> PremiseIndex:
        """Return the index beside a checkpoint; make and store it if it is missing or stale.

        For a model without a checkpoint file (``None``), nothing is stored.
        """
        if checkpoint is None:
            return cls.build(model, corpus)
        path = path_beside(checkpoint, corpus)
        if path.is_file():
            try:
                return cls.load(path, model, corpus)
            except CheckpointError as error:
                log.warning("%s; making it again", error)
        index = cls.build(model, corpus)
        index.save(path)
        return index

    def save(self, path: Path) -> None:
        """Write the index atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            tensors = {"embeddings": self.embeddings.contiguous().cpu()}
            save_file(tensors, str(temporary), metadata={"fingerprint": self.fingerprint})
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def path_beside(checkpoint: Path, corpus: Corpus) -> Path:
    """Return the place of an index: beside the checkpoint, one for each corpus."""
    return checkpoint.with_name(f"{checkpoint.stem}.index-{corpus.fingerprint[:12]}.safetensors")


def fingerprint(model: PremiseRetriever, corpus: Corpus) -> str:
    """Digest model and corpus."""
    return f"{model.fingerprint()}-{corpus.fingerprint}"
