"""Muon for the matrices of a small model, AdamW for its other parameters.

Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon) makes each step of a matrix
orthogonal; a small model learns to copy from its context in fewer steps than with AdamW alone. It
is for hidden matrices only: gains, embeddings and the head keep AdamW.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import AdamW, Muon, Optimizer


class _Float32Muon(Muon):
    """torch's Muon in float32: its bfloat16 takes a CPU three times as long."""

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move the matrices by one step, with Nesterov's momentum."""
        for group in self.param_groups:
            weights: list[torch.Tensor] = []
            gradients: list[torch.Tensor] = []
            momenta: list[torch.Tensor] = []
            self._init_group(group, weights, gradients, momenta)
            for weight, gradient, momentum in zip(weights, gradients, momenta, strict=True):
                momentum.lerp_(gradient, 1 - group["momentum"])
                ahead = gradient.lerp(momentum, group["momentum"])
                step = _orthogonal(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(step, alpha=-group["lr"] * 0.2 * math.sqrt(max(weight.shape)))


def _orthogonal(
    matrix: torch.Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> torch.Tensor:
    """Bring all singular values near 1, by Newton-Schulz iterations."""
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    found = matrix.T if is_tall else matrix
    found = found / found.norm().clamp(min=eps)
    for _ in range(steps):
        gram = found @ found.T
        found = torch.addmm(found, torch.addmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    return found.T if is_tall else found


class MuonWithAdamW(Optimizer):
    """Both optimisers as one; a scheduler sees the parameter groups of both.

    Args:
        model: The model. Muon trains its matrices other than embeddings and head.
        lr: Peak learning rate of both: Muon's steps are scaled to the size of AdamW's.
        weight_decay: Of the matrices.
    """

    def __init__(self, model: torch.nn.Module, lr: float, weight_decay: float = 0.1) -> None:
        outer = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
        if (head := getattr(model, "get_output_embeddings", lambda: None)()) is not None:
            outer.append(head)
        outside = {id(weight) for module in outer for weight in module.parameters()}
        matrices: list[torch.nn.Parameter] = []
        rest: list[torch.nn.Parameter] = []
        for weight in model.parameters():
            if weight.requires_grad:
                is_hidden = weight.ndim == 2 and id(weight) not in outside
                (matrices if is_hidden else rest).append(weight)
        self._both: list[Optimizer] = []
        if matrices:
            kind = _Float32Muon if matrices[0].device.type == "cpu" else Muon
            self._both.append(
                kind(matrices, lr=lr, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
            )
        if rest:  # empty for an adapter
            self._both.append(AdamW(rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.0))
        super().__init__([group for one in self._both for group in one.param_groups], {})

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move all parameters by one step."""
        if closure is not None:
            with torch.enable_grad():
                closure()
        # Groups and state are this optimiser's, whoever loaded them last: accelerate puts copies in
        # their place, and a scheduler changes those.
        for one, group in zip(self._both, self.param_groups, strict=True):
            one.param_groups, one.state = [group], self.state
            one.step()
