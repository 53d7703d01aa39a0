"""Compute vocabulary scores only at labelled positions.

In tactic data about 5 % of all tokens carry a label, yet on devices without Triton TRL projects
every position onto the whole vocabulary. Here a hook hands the LM head the labelled positions
only. The model's own forward does the rest (logit scaling, soft-capping, LoRA on any layer), so
it works for every architecture, through PEFT and through DDP, and gives the same loss.
"""

import types
from collections.abc import Callable
from typing import Any

import torch
from accelerate import PartialState
from torch.nn import functional
from transformers.modeling_utils import PreTrainedModel

from lean_dojo_plugins.causal_lm.model.loading import base_of
from lean_dojo_plugins.causal_lm.model.trl_internals import fused_output
from lean_dojo_plugins.training import knows_trl, sharding


def restore_forward(model: Any) -> None:
    """Undo wrappers that trainers put around a model's ``forward`` (autocast, a fused head).

    Each curriculum step builds a new trainer around the same model, which wraps ``forward`` once
    more; and accelerate would leave a model that it once prepared without autocast.
    """
    for module in {id(m): m for m in (model, base_of(model))}.values():
        for name in ("forward", "_original_forward", "_is_accelerate_prepared"):
            module.__dict__.pop(name, None)


def add_label_head(
    model: Any, *, temperature: float = 1.0, differentiable_entropy: bool = False
) -> None:
    """Make ``model(..., labels=…, fused_lm_head=True)`` score labelled positions only.

    Takes the place of the head that TRL's trainers install, so call it after such a trainer is
    built. It does nothing on devices with Triton, where TRL's own kernel is as sparse and fuses
    more, nor with a TRL that is newer than those tested. The logits are divided by ``temperature``,
    as GRPO does; gradients flow through ``entropy`` if ``differentiable_entropy``.
    """
    base = base_of(model)
    device = PartialState().device if sharding() else base.device  # shards move there later
    if device.type in {"cuda", "xpu"} or not knows_trl():
        return
    forward = base.forward

    def scored_forward(
        self: PreTrainedModel,
        *args: Any,
        fused_lm_head: bool = False,
        labels: torch.Tensor | None = None,
        shift_labels: torch.Tensor | None = None,
        num_items_in_batch: Any = None,
        **kwargs: Any,
    ) -> Any:
        if not fused_lm_head:
            given = {
                "labels": labels,
                "shift_labels": shift_labels,
                "num_items_in_batch": num_items_in_batch,
            }
            kwargs.update({key: value for key, value in given.items() if value is not None})
            return forward(*args, **kwargs)
        assert labels is not None or shift_labels is not None, "fused_lm_head=True needs labels"
        targets = labels[:, 1:] if shift_labels is None else shift_labels  # type: ignore[index]
        kwargs["use_cache"] = False
        mask = targets != -100
        outputs = _forward_at(self, forward, mask, args, kwargs)
        logits = outputs.logits[0].float() / temperature
        scores = _scores(logits, targets, differentiable_entropy)
        count = scores.label_mask.sum().clamp(min=1)
        total = count if num_items_in_batch is None else num_items_in_batch
        scores.loss = -scores.log_probs.sum() / total
        scores.aux_loss = getattr(outputs, "aux_loss", None)
        return scores

    # transformers reads the parameters' names off the signature, so keep that of the model.
    scored_forward.__wrapped__ = type(base).forward  # type: ignore[attr-defined]
    base.forward = types.MethodType(scored_forward, base)


@torch.inference_mode()
def label_log_probs(
    model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Return the log-probability of every label, row by row, on any device.

    The inputs have shape ``(batch, length)``; a label is -100 where there is none.
    """
    targets = labels[:, 1:]
    mask = targets != -100
    kwargs = {"input_ids": input_ids, "attention_mask": attention_mask, "use_cache": False}
    base = base_of(model)
    outputs = _forward_at(base, base.forward, mask, (), kwargs)
    chosen = targets[mask][:, None]
    return torch.log_softmax(outputs.logits[0].float(), dim=-1).gather(1, chosen).squeeze(1)


def _forward_at(
    model: PreTrainedModel,
    forward: Callable[..., Any],
    mask: torch.Tensor,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run the model with its LM head at the masked positions only: logits ``(1, N, vocab)``.

    ``mask`` has shape ``(batch, length)`` or ``(batch, length - 1)``.
    """

    def keep(_head: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        hidden, *rest = inputs
        where = mask.to(hidden.device)
        return (hidden[:, : where.shape[1]][where].unsqueeze(0), *rest)

    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    assert head is not None, f"{type(model).__name__} has no output embeddings"
    handle = head.register_forward_pre_hook(keep)
    try:
        return forward(*args, **kwargs)
    finally:
        handle.remove()


def _scores(logits: torch.Tensor, targets: torch.Tensor, differentiable_entropy: bool) -> Any:
    """Score ``(N, vocab)`` logits of the labelled positions of ``(batch, length)`` targets."""
    mask = targets != -100
    chosen = targets[mask].to(logits.device)
    # cross_entropy reads the logits once; log_softmax + gather would keep a second copy.
    log_probs = -functional.cross_entropy(logits, chosen, reduction="none")
    with torch.set_grad_enabled(differentiable_entropy and torch.is_grad_enabled()):
        log_z = torch.logsumexp(logits, dim=-1, keepdim=True)
        entropy = -(torch.exp(logits - log_z) * (logits - log_z)).sum(-1)
    top1 = logits.detach().argmax(-1) == chosen

    def spread(values: torch.Tensor) -> torch.Tensor:
        # masked_scatter stays connected to the model when no label is there at all.
        return values.new_zeros(mask.shape).masked_scatter(mask, values)

    return fused_output(
        log_probs=spread(log_probs), entropy=spread(entropy), is_top1=spread(top1), label_mask=mask
    )
