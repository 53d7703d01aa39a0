"""Random draws that depend on a goal's own seed, not on the rest of the batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def uniforms(seeds: Sequence[int], samples: int, tokens: int, device: torch.device) -> torch.Tensor:
    """Draw a number for every token that may be sampled, from the goals' own seeds.

    They are drawn on the CPU, so they are the same on all devices.

    Returns:
        ``(goals * samples, tokens)`` numbers in [0, 1), a goal's samples together.
    """
    exact = torch.float32 if device.type == "mps" else torch.float64
    rows = [
        torch.rand(samples, tokens, generator=torch.Generator().manual_seed(seed), dtype=exact)
        for seed in seeds
    ]
    return torch.cat(rows).to(device)


def pick(probabilities: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """Choose by the inverse of the cumulative distribution.

    Args:
        probabilities: ``(rows, vocabulary)``, not negative; rows need not sum to 1.
        draws: ``(rows,)`` numbers in [0, 1).

    Returns:
        ``(rows,)`` indices, never of an entry with probability 0.
    """
    cumulative = probabilities.cumsum(-1, dtype=draws.dtype)
    wanted = draws[:, None] * cumulative[:, -1:]
    found = torch.searchsorted(cumulative, wanted, right=True).squeeze(1)
    return found.clamp(max=probabilities.shape[1] - 1)
