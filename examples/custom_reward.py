"""Refine a prover with a reward function of your own."""

import torch

from lean_dojo_v2.agent import HFAgent
from lean_dojo_v2.trainer import GRPOTrainer


def reward_func(completions: list[str], **kwargs: object) -> torch.Tensor:
    """Prefer short tactics; block sorry."""
    rewards = []
    for tactic in completions:
        # Penalise long tactics; reward short ones
        length_penalty = max(0.0, 1.0 - len(tactic) / 200)
        # Hard block on sorry
        if "sorry" in tactic or "admit" in tactic:
            rewards.append(-1.0)
        else:
            rewards.append(length_penalty)
    return torch.tensor(rewards)


def main() -> None:
    url = "https://github.com/durant42040/lean4-example"
    commit = "b14fef0ceca29a65bc3122bf730406b33c7effe5"

    trainer = GRPOTrainer(
        model_name="deepseek-ai/DeepSeek-Prover-V2-7B",
        output_dir="outputs-custom-reward",
        reward_func=reward_func,
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
