"""The agent of models behind an endpoint."""

from __future__ import annotations

from pathlib import Path

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.agent.base_agent import BaseAgent
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.external import DEFAULT_MODEL, ExternalProver


class ExternalAgent(BaseAgent):
    """Proves with a model behind an OpenAI-compatible endpoint; it does not train.

    Args:
        model_name: The endpoint's name of the model.
        database_path: The database.
        prover_config: Limits of proof search.
    """

    trainer = None

    def __init__(
        self,
        model_name: str = DEFAULT_MODEL,
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self.model_name = model_name

    def train(self) -> None:
        """Refuse: a model behind an endpoint is not ours to train.

        Raises:
            UsageError: Always.
        """
        raise UsageError("ExternalAgent does not train; use HFAgent or LeanAgent")

    def evaluate(self) -> None:
        """Refuse, as :meth:`train` does.

        Raises:
            UsageError: Always.
        """
        raise UsageError("ExternalAgent has no trainer to evaluate; use prove()")

    def _get_build_deps(self) -> bool:
        return False

    def _setup_prover(self) -> None:
        self.prover = ExternalProver(self.model_name, self.prover_config)
