"""The lifelong-learning agent: a premise retriever, and a generator that reads the premises."""

from pathlib import Path

import orjson

from lean_dojo_core import registry
from lean_dojo_v2.agent.base_agent import BaseAgent
from lean_dojo_v2.lean_agent import ProverConfig, TrainingConfig
from lean_dojo_v2.prover import prover_of


class LeanAgent(BaseAgent):
    """Trains a premise retriever over the repositories and proves with retrieved premises.

    Kumarappan et al., "LeanAgent: Lifelong learning for formal theorem proving" (ICLR 2025,
    arXiv:2410.06209).

    Proving takes the checkpoint with the best Recall@10_val, and without one the model that
    ``training_config`` names. Premises come from the repositories of the database; the corpus is
    exported again if it belongs to others. The documented settings and the retrieval prover's
    generator are taken if no ``training_config`` and no ``gen_ckpt_path`` is given.
    """

    def __init__(
        self,
        database_path: str | Path = "dynamic_database.json",
        training_config: TrainingConfig | None = None,
        prover_config: ProverConfig | None = None,
        *,
        gen_ckpt_path: str | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self.config = training_config or TrainingConfig()
        self.trainer = registry.builtin(registry.trainers, "retrieval")(self.config)
        self.gen_ckpt_path = gen_ckpt_path

    def _get_build_deps(self) -> bool:
        return True

    def _setup_prover(self) -> None:
        corpus = self.data_path / "corpus.jsonl"
        repositories = self.database.repositories
        wanted = {(repository.url, repository.commit) for repository in repositories}
        # The folder is shared, so it may hold other repositories' data. An empty database cannot
        # replace it.
        if not corpus.exists() or (wanted and _exported(self.data_path) != wanted):
            self.database.export_merged_data(repositories, self.data_path)
        self.prover = prover_of(
            self._trainer(),
            self.prover_config,
            gen_ckpt_path=self.gen_ckpt_path,
            indexed_corpus_path=str(corpus),
        )


def _exported(folder: Path) -> set[tuple[str, str]]:
    """Return address and commit of the repositories exported to a folder; empty if unknown."""
    try:
        items = orjson.loads((folder / "metadata.json").read_bytes())["repositories"]
        return {(str(item["url"]), str(item["commit"])) for item in items}
    except (OSError, ValueError, LookupError, TypeError):
        return set()
