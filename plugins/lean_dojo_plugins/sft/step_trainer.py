"""TRL's SFT trainer, with batches of similar length and a choice of Muon."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, cast

import torch
from torch.optim import AdamW, Muon, Optimizer
from torch.overrides import TorchFunctionMode
from trl.trainer.sft_trainer import SFTTrainer

from lean_dojo_plugins.training import GroupingTrainer, cpu_has_bf16


class SFTStepTrainer(GroupingTrainer, SFTTrainer):
    """One curriculum step's trainer; uses only what TRL documents."""

    uses_muon: bool = False
    prompt_weight: float = 0.0

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        """Make the optimiser, once."""
        if not self.uses_muon:
            return super().create_optimizer(model)
        if self.optimizer is None:
            chosen = cast("torch.nn.Module", model or self.model)
            self.optimizer = MuonWithAdamW(chosen, self.args.learning_rate, self.args.weight_decay)
        return self.optimizer


class MuonWithAdamW(Optimizer):
    """Muon for the matrices of a small model, AdamW for its other parameters.

    Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon) makes each step of a matrix
    orthogonal; a small model learns to copy from its context in fewer steps than with AdamW alone.
    It is for hidden matrices only: gains, embeddings and the head keep AdamW. Muon's steps are
    scaled to the size of AdamW's, so both have the peak learning rate ``lr``.
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
        self._emulates = bool(matrices) and matrices[0].is_cpu and not cpu_has_bf16()
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
            with _ProductsInFloat32() if self._emulates else nullcontext():
                one.step()


_PRODUCTS = (torch.addmm, torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__)


class _ProductsInFloat32(TorchFunctionMode):
    """Multiplies bfloat16 matrices in float32 and rounds the result, as a CPU with bfloat16 does.

    Muon multiplies in bfloat16. On a CPU without it PyTorch takes fifteen times as long, most of
    the time of a step, and rounds every partial sum.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function in _PRODUCTS and args[0].dtype == torch.bfloat16:
            return function(*(one.float() for one in args), **(kwargs or {})).bfloat16()
        return function(*args, **(kwargs or {}))
