"""Rewards of a policy's samples at held-out goals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lean_dojo_plugins.causal_lm import CausalTacticGenerator
from lean_dojo_plugins.rewards import AdaptedReward
from lean_dojo_plugins.training import chunks

GOALS_AT_ONCE = 16


def sample_and_score(
    generator: CausalTacticGenerator,
    rewards: Sequence[AdaptedReward],
    rows: Sequence[Mapping[str, Any]],
    *,
    samples: int,
    temperature: float,
    max_new_tokens: int,
    seed: int,
) -> dict[str, float]:
    """Sample tactics at the goals of rows and score every sample.

    A tactic that does not end by ``max_new_tokens`` scores as empty text. Returns ``reward``, the
    mean over the samples of the weighted sum; ``reward/NAME``, the mean of each reward where it
    applies; and the means of what rewards log, such as ``lean/verified``.
    """
    batches = []
    for number, chunk in enumerate(chunks(list(rows), GOALS_AT_ONCE)):
        columns = {key: [row[key] for row in chunk for _ in range(samples)] for key in chunk[0]}
        columns["prompts"] = columns.pop("prompt")
        for reward in rewards:
            reward.warm_up(**columns)
        found = generator.generate(
            [row["problem"] for row in chunk], samples, temperature,
            max_new_tokens=max_new_tokens, seed=seed + number, merge=False,
        )  # fmt: skip
        texts = [text for suggestions in found for text, _ in suggestions]
        completions = [[{"role": "assistant", "content": text}] for text in texts]
        batches.append((completions, columns))
    seen: dict[str, list[float]] = defaultdict(list)
    for completions, columns in batches:

        def log(name: str, value: float, size: int = len(completions)) -> None:
            seen[name] += [value] * size

        scores = [
            reward(completions, log_metric=log, trainer_state=None, **columns) for reward in rewards
        ]
        for reward, each in zip(rewards, scores, strict=True):
            seen[f"reward/{reward.name}"] += [one for one in each if one is not None]
        for row in zip(*scores, strict=True):
            pairs = zip(rewards, row, strict=True)
            if known := [reward.weight * one for reward, one in pairs if one is not None]:
                seen["reward"].append(sum(known))
    return {name: sum(values) / len(values) for name, values in seen.items() if values}
