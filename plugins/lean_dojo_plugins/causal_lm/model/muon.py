"""Muon for the matrices of a small model, AdamW for its other parameters.

Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon) makes each step of a matrix
orthogonal; a small model learns to copy from its context in fewer steps than with AdamW alone. It
is for hidden matrices only: gains, embeddings and the head keep AdamW.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.optim import AdamW, Muon, Optimizer


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
            self._both.append(
                Muon(matrices, lr=lr, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
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
