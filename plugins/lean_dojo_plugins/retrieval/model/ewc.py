"""Elastic weight consolidation (EWC).

Kirkpatrick et al. 2017, "Overcoming catastrophic forgetting in neural networks". Over several
repositories the Fisher information adds up and the anchor is the latest model (Schwarz et al.
2018, "Progress & Compress", online EWC with decay 1), so one penalty stands for all of them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs
import torch
from torch import nn
from tqdm import tqdm

from lean_dojo_plugins.retrieval.data.batches import TrainBatch
from lean_dojo_v2.errors import CheckpointError


@attrs.frozen(eq=False)
class Consolidation:
    """EWC's state: each parameter's diagonal Fisher information, and its value θ* (the anchor)."""

    fisher: dict[str, torch.Tensor]
    anchor: dict[str, torch.Tensor]

    def penalty(self, model: nn.Module) -> torch.Tensor:
        """Compute Σ F (θ − θ*)² over all parameters: a scalar that can be differentiated."""
        terms = [
            (self.fisher[name] * (parameter - self.anchor[name]).square()).sum()
            for name, parameter in model.named_parameters()
            if name in self.fisher
        ]
        return torch.stack(terms).sum()

    def to(self, device: torch.device) -> Self:
        """Move to a device."""
        return type(self)(
            {name: value.to(device) for name, value in self.fisher.items()},
            {name: value.to(device) for name, value in self.anchor.items()},
        )

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return attrs.asdict(self, recurse=False)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], model: nn.Module) -> Self:
        """Restore from :meth:`to_state`."""
        shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
        found = {name: value.shape for name, value in state["fisher"].items()}
        if found != shapes:
            odd = min(set(found.items()) ^ set(shapes.items()))[0]
            raise CheckpointError(
                f"the checkpoint's Fisher information is not of this model: {odd} differs"
            )
        return cls(dict(state["fisher"]), dict(state["anchor"]))

    @classmethod
    def after(cls, model: Any, fisher: dict[str, torch.Tensor], before: Self | None) -> Self:
        """Add a repository's Fisher information, normalised; anchor at the model as it is."""
        total = {
            name: value + before.fisher[name] if before else value
            for name, value in normalised(fisher).items()
        }
        anchor = {n: p.detach().clone() for n, p in model.named_parameters() if n in fisher}
        return cls(total, anchor)


def normalised(fisher: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Scale Fisher information to a mean of 1 over all parameters.

    It consists of squared gradients of a mean squared error, which vanish as the fit improves: the
    better a repository is learned, the less its raw information would protect it. Scaled, it ranks
    the weights, and ``lambda_value`` alone sets the strength.
    """
    total = sum(float(value.sum()) for value in fisher.values())
    mean = total / sum(value.numel() for value in fisher.values())
    if not mean > 0:  # nothing has a gradient, or nothing was learned from
        return dict(fisher)
    return {name: value / mean for name, value in fisher.items()}


def fisher_information(
    model: Any, batches: Iterable[TrainBatch], *, total: int | None = None
) -> dict[str, torch.Tensor]:
    """Compute the diagonal of the empirical Fisher information, by trainable parameter.

    F = (1/n) Σᵢ (∂ lossᵢ / ∂θ)², over batches of one training item each: squaring the gradient of a
    whole batch would be another and much smaller number. In several processes each takes its share.
    ``total`` is the number of batches, for the progress bar.
    """
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    squares = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    count = 0
    for batch in tqdm(batches, "Fisher information", total=total, disable=None, unit="item"):
        loss = model.similarity_loss(batch)
        gradients = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        for square, gradient in zip(squares.values(), gradients, strict=True):
            if gradient is not None:
                square.addcmul_(gradient, gradient)
        count += 1
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        counted = torch.tensor([count], device=next(iter(squares.values())).device)
        torch.distributed.all_reduce(counted)
        count = int(counted)
        for square in squares.values():
            torch.distributed.all_reduce(square)
    return {name: square / max(count, 1) for name, square in squares.items()}
