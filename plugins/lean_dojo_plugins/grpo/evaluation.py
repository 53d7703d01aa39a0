"""Rewards of a policy's samples at held-out goals."""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator
from lean_dojo_plugins.rewards.adapter import AdaptedReward, Scores
from lean_dojo_plugins.training.rows import chunks

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

    A tactic that does not end by ``max_new_tokens`` scores as empty text.

    Returns:
        ``reward``, the mean over the samples of the weighted sum; ``reward/NAME``, the mean of each
        reward where it applies; and what rewards log, for example ``lean/verified``, the share of
        samples that Lean verified.
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
    return _scored(rewards, batches)


def _scored(
    rewards: Sequence[AdaptedReward], batches: Sequence[tuple[list[Any], dict[str, list[Any]]]]
) -> dict[str, float]:
    logged: dict[str, list[tuple[float, int]]] = defaultdict(list)
    scores: list[Scores] = [[] for _ in rewards]
    for completions, columns in batches:
        size = len(completions)

        def log(name: str, value: float, size: int = size) -> None:
            logged[name].append((value, size))

        for reward, kept in zip(rewards, scores, strict=True):
            found: Any = reward(completions, log_metric=log, trainer_state=None, **columns)
            kept.extend(asyncio.run(found) if inspect.iscoroutine(found) else found)
    totals = [
        sum(r.weight * one for r, one in zip(rewards, row, strict=True) if one is not None)
        for row in zip(*scores, strict=True)
        if any(one is not None for one in row)
    ]
    named = {"reward": totals}
    for reward, kept in zip(rewards, scores, strict=True):
        named[f"reward/{reward.name}"] = [one for one in kept if one is not None]
    means = {name: sum(values) / len(values) for name, values in named.items() if values}
    shares = {
        name: sum(value * size for value, size in values) / sum(size for _, size in values)
        for name, values in logged.items()
    }
    return {**means, **shares}
