"""What a user writes with the documented classes; type checkers read it, nothing runs it."""

from pathlib import Path
from typing import Any, assert_type

import attrs

from lean_dojo_core import Closes, Locates, RewardFunction, Span, Trainer, registry
from lean_dojo_v2.agent.hf_agent import HFAgent
from lean_dojo_v2.agent.lean_agent import LeanAgent
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.kinds import Benchmark, Prover, benchmarks, provers
from lean_dojo_v2.lean_agent.config import ProverConfig, TrainingConfig
from lean_dojo_v2.trainer.grpo_trainer import GRPOTrainer
from lean_dojo_v2.trainer.progress_trainer import ProgressTrainer
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer


def reward_func(completions: list[str], **kwargs: object) -> list[float]:
    return [float(len(text) < 10) for text in completions]


trainer = SFTTrainer(
    model_name="owner/model", output_dir="outputs", epochs_per_repo=1, batch_size=2, lr=2e-5
)
agent = HFAgent(trainer=trainer, prover_config=ProverConfig(num_workers=1))
agent.setup_github_repository(url="https://github.com/owner/name", commit="abc")
agent.train()
results = agent.prove()
proved = [result.name for result in results if result.success]
folder: str = trainer.output_dir

grpo = GRPOTrainer("owner/model", reward_func)
positional = GRPOTrainer("owner/model", reward_func, "out", 2, 4, 1e-4, None, formatter="x")
by_path = GRPOTrainer(Path("model"), ["constant", reward_func], Path("out"), lora_config={"r": 8})
HFAgent(grpo)
HFAgent(trainer=ProgressTrainer("data.jsonl", "owner/model", Path("out")))

config = TrainingConfig(max_epochs=3, lr=5e-4)
changed: TrainingConfig = attrs.evolve(config, seed=3)
retrieval = RetrievalTrainer(config)
LeanAgent(training_config=config).train()

database = DynamicDatabase("dynamic_database.json")
repositories = database.sort_repositories_by_difficulty()
for one in (trainer, grpo, retrieval):
    one.train(repositories, database, Path("raid/data/merged"))
report = retrieval.evaluate()
first: float = registry.reward_functions["length-penalised"].create()(["simp"])[0]


class Columns:
    """A reward that names a column, says where, and gives something back."""

    def __call__(
        self, completions: list[str], problem: list[str], **kwargs: object
    ) -> list[float | None]:
        return [float(goal in text) for goal, text in zip(problem, completions, strict=True)]

    def spans(self, completions: list[str], **columns: object) -> list[list[Span]]:
        return [[Span(0, len(text), 1.0, "all")] for text in completions]

    def close(self) -> None: ...


named: RewardFunction = Columns()
located: Locates = Columns()
made = registry.reward_functions["proof-verified"].create()
if isinstance(made, Closes):
    made.close()

assert_type(registry.trainers["sft"].load(), type[Trainer])
assert_type(registry.trainers["sft"].create(model_name="owner/model"), Trainer)
assert_type(registry.reward_functions["constant"].create(value=2), RewardFunction)
assert_type(provers["automation"].load(), type[Prover[Any, Any, Any]])
assert_type(benchmarks["sample"].create(), Benchmark)
