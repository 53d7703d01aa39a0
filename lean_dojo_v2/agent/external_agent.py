"""The agent of models behind an endpoint."""

from pathlib import Path

from lean_dojo_v2.agent.base_agent import ProverAgent
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover import DEFAULT_MODEL, ExternalProver


class ExternalAgent(ProverAgent):
    """Proves with a model, by its name at an OpenAI-compatible endpoint; it does not train."""

    def __init__(
        self,
        model_name: str = DEFAULT_MODEL,
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(
            lambda config: ExternalProver(model_name, config), database_path, prover_config
        )
        self.model_name = model_name
