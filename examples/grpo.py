"""Refine a prover by reinforcement, with a reward that Lean verifies."""

from lean_dojo_v2.agent import HFAgent
from lean_dojo_v2.trainer import GRPOTrainer


def main() -> None:
    url = "https://github.com/durant42040/lean4-example"
    commit = "b14fef0ceca29a65bc3122bf730406b33c7effe5"

    trainer = GRPOTrainer(
        model_name="deepseek-ai/DeepSeek-Prover-V2-7B",
        output_dir="outputs-grpo",
        reward_func={"pantograph-verified": 1.0, "length-penalised": 0.1},
        epochs_per_repo=1,
        batch_size=8,
        lr=2e-5,
    )

    agent = HFAgent(trainer=trainer)
    agent.setup_github_repository(url=url, commit=commit)
    agent.train()
    agent.prove()


if __name__ == "__main__":
    main()
