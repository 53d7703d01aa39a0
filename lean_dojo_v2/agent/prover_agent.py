"""The agent of an existing prover: it proves and does not train."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lean_dojo_v2.agent.base_agent import BaseAgent
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover import AnyProver


class ProverAgent(BaseAgent):
    """Proves with a given prover.

    Args:
        make_prover: Makes the prover, when it is first needed.
        database_path: The database.
        prover_config: Limits of proof search.
    """

    trainer = None

    def __init__(
        self,
        make_prover: Callable[[ProverConfig], AnyProver],
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self._make_prover = make_prover

    def _setup_prover(self) -> None:
        if self.prover is None:
            self.prover = self._make_prover(self.prover_config)
