"""The agent of trainers whose models prove by themselves, such as SFT and GRPO."""

from pathlib import Path

from lean_dojo_core import Trainer
from lean_dojo_v2.agent.base_agent import BaseAgent
from lean_dojo_v2.lean_agent import ProverConfig, TrainingConfig
from lean_dojo_v2.prover import prover_of


class HFAgent(BaseAgent):
    """Trains a model with an ``SFTTrainer``, a ``GRPOTrainer`` or any other, and proves with it.

    It proves with the prover that the trainer's plugin names, or else with the causal language
    model in its ``output_dir``. The ``training_config`` is not used; every setting is the
    trainer's own.
    """

    def __init__(
        self,
        trainer: Trainer,
        database_path: str | Path = "dynamic_database.json",
        training_config: TrainingConfig | None = None,
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self.trainer = trainer
        self.training_config = training_config

    def _setup_prover(self) -> None:
        self.prover = prover_of(self._trainer(), self.prover_config)
