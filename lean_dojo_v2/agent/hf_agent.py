"""The agent of SFT and GRPO models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lean_dojo_v2.agent.base_agent import BaseAgent
from lean_dojo_v2.lean_agent.config import ProverConfig, TrainingConfig
from lean_dojo_v2.upward import reach


class HFAgent(BaseAgent):
    """Trains a causal language model and proves with it.

    Args:
        trainer: An ``SFTTrainer``, a ``GRPOTrainer``, or any trainer whose ``output_dir`` holds a
            causal language model afterwards.
        database_path: The database.
        training_config: Not used; every setting is the trainer's own.
        prover_config: Limits of proof search.
    """

    def __init__(
        self,
        trainer: Any,
        database_path: str | Path = "dynamic_database.json",
        training_config: TrainingConfig | None = None,
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self.trainer = trainer
        self.training_config = training_config

    def _get_build_deps(self) -> bool:
        return False

    def _setup_prover(self) -> None:
        self.prover = reach("HFProver")(
            str(self.trainer.output_dir),
            use_lora=getattr(self.trainer, "lora_config", None) is not None,
            device=getattr(self.trainer, "device", "auto"),
            formatter=getattr(self.trainer, "formatter", "tactic-chat"),
            max_length=getattr(self.trainer, "max_length", None),
            config=self.prover_config,
        )
