"""TRL's GRPO trainer as TRL documents it, for versions whose private methods we do not know."""

from collections.abc import Callable, Sequence
from typing import Any

from trl.trainer.grpo_trainer import GRPOTrainer

from lean_dojo_plugins.rewards import AdaptedReward, Scores


def plain_trainer(
    rewards: Sequence[AdaptedReward], ends: Sequence[int], *, args: Any, **options: Any
) -> GRPOTrainer:
    """Build TRL's trainer; its rewards see empty text for a completion without one of ``ends``."""
    stop = "stop_token_ids" if args.use_vllm else "eos_token_id"
    args.generation_kwargs = {**(args.generation_kwargs or {}), stop: list(ends)}
    longest = args.max_completion_length

    def of_finished(reward: AdaptedReward) -> Callable[..., Scores]:
        def score(
            completions: Sequence[Any], completion_ids: Sequence[Sequence[int]], **columns: Any
        ) -> Scores:
            finished = [
                one if longest is None or len(ids) < longest or ids[-1] in ends
                else with_text("", one)
                for one, ids in zip(completions, completion_ids, strict=True)
            ]  # fmt: skip
            return reward(finished, completion_ids=completion_ids, **columns)

        score.__name__ = reward.name  # TRL names its metrics by it
        return score

    scored: list[Any] = [of_finished(reward) for reward in rewards]
    return GRPOTrainer(reward_funcs=scored, args=args, **options)


def with_text(text: str, completion: Any) -> Any:
    """Return a completion of the same form with another text."""
    if isinstance(completion, str):
        return text
    return [*completion[:-1], {**completion[-1], "content": text}]
