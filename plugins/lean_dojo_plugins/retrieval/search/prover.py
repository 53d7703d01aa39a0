"""The prover that shows retrieved premises to its generator."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from lean_dojo_core import DatasetFormatter, Message, remove_marks
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_plugins import causal_lm
from lean_dojo_plugins.training import fetch, resolve_model
from lean_dojo_v2.files import merged_data_dir
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover import BaseProver, Place, PremiseSource, TacticGenerator

DEFAULT_GENERATOR = "kaiyuy/leandojo-lean4-retriever-tacgen-byt5-small"
"""The generator of ReProver (Yang et al. 2023, "LeanDojo"), which reads retrieved premises."""


class RetrievalProver(BaseProver):
    """Proves with a generator that reads, with every goal, the premises retrieved for it.

    The generator is of either type. A sequence-to-sequence model (such as ReProver's) gets the
    premises and then the goal, separated by blank lines. A causal model, such as one that
    ``SFTTrainer`` has saved, gets its training prompt with the premises before the goal.

    Args:
        ret_ckpt_path: Retriever: a checkpoint file, or an encoder's folder or hub id.
        gen_ckpt_path: Generator: a folder or hub id; :data:`DEFAULT_GENERATOR` if not given.
        indexed_corpus_path: The ``corpus.jsonl``; ``raid/data/merged/corpus.jsonl`` if not given.
            Its embeddings are kept beside the retriever's checkpoint file.
        config: Limits of the search.
        num_premises: Premises retrieved for a goal; a generator's context may take fewer.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        seed: Seed of the sampling, in place of ``config``'s.

    Raises:
        UsageError: If there is no corpus or no generator at that path.
        TrainingError: If the retriever or the generator cannot be loaded.
        DataError: If the corpus cannot be read.
    """

    def __init__(
        self,
        ret_ckpt_path: str | Path,
        gen_ckpt_path: str | Path | None = None,
        indexed_corpus_path: str | Path | None = None,
        *,
        config: ProverConfig | None = None,
        num_premises: int = 20,
        device: str = "auto",
        seed: int | None = None,
    ) -> None:
        from lean_dojo_plugins.retrieval.search.retriever import Retriever
        from lean_dojo_plugins.retrieval.search.seq2seq import Seq2SeqGenerator

        super().__init__(config)
        asked = self.settings.temperature
        temperature = 1.0 if asked is None else asked
        if seed is not None:
            self.settings = attrs.evolve(self.settings, seed=seed)
        corpus = indexed_corpus_path or merged_data_dir() / "corpus.jsonl"
        self.retriever = Retriever.open(ret_ckpt_path, corpus, device=device)
        self.num_premises = num_premises
        name = resolve_model(gen_ckpt_path or DEFAULT_GENERATOR)
        self._causal: causal_lm.CausalTacticGenerator | None = None
        self._generator: TacticGenerator
        if _is_seq2seq(name):
            self._generator = Seq2SeqGenerator(name, device=device, temperature=temperature)
        else:
            self._causal = causal_lm.CausalTacticGenerator(name, device=device)
            self._causal.formatter = WithPremises(self._causal.formatter)
            self._generator = causal_lm.Sampler(self._causal, temperature=temperature)

    @property
    def generator(self) -> TacticGenerator:
        """The generator of tactics."""
        return self._generator

    @property
    def premises(self) -> PremiseSource:
        """This prover, which finds the premises that a theorem may use."""
        return self

    def retrieve(self, goals: Sequence[str], places: Sequence[Place | None]) -> list[list[str]]:
        """Return texts of premises; see :class:`lean_dojo_v2.prover.suggestion.PremiseSource`.

        A theorem of a file outside the corpus may use every premise; Lean rejects those out of
        scope.
        """
        from lean_dojo_plugins.retrieval.data.corpus import premise_text

        known = [
            (place.file_path, place.start)
            if place and self.retriever.corpus.file_number(place.file_path) is not None
            else None
            for place in places
        ]
        found = self.retriever.retrieve(goals, known, k=self.num_premises)
        return [
            [premise_text(hit.premise.full_name, hit.premise.code) for hit in hits]
            for hits in found
        ]

    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Write a complete proof; a sequence-to-sequence model writes tactics: ``UsageError``."""
        if self._causal is None:
            raise UsageError(
                "this generator writes one tactic at a time; use it for search, or use a causal "
                "language model to write whole proofs"
            )
        return causal_lm.write_proof(self._causal, theorem)


class WithPremises:
    """A dataset formatter's prompt with premises before the goal, in the last user turn.

    They may have ``letters`` characters; the best come first, and the first is always kept.
    """

    def __init__(self, formatter: DatasetFormatter, letters: int = 2000) -> None:
        self._formatter = formatter
        self._letters = letters
        self.columns = formatter.columns
        self.rows = formatter.rows

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:
        """Return the conversation that asks for a tactic."""
        turns = list(self._formatter.prompt(goal, premises=premises))
        chosen: list[str] = []
        room = self._letters
        for text in map(remove_marks, premises):
            room -= len(text)
            if chosen and room < 0:
                break
            chosen.append(text)
        if chosen:
            last = turns[-1]
            content = "\n\n".join([*chosen, last["content"]])
            turns[-1] = {"role": last["role"], "content": content}
        return turns


def _is_seq2seq(name: str) -> bool:
    from transformers import AutoConfig

    if causal_lm.is_adapter(name):
        return False
    return bool(fetch(AutoConfig.from_pretrained, name, what="model").is_encoder_decoder)
