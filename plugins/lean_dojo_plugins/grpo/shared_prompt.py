"""Compute a prompt once per group, in generation and in training.

GRPO samples a group of completions of each prompt, so a batch holds each prompt as often as the
group is large, and a prompt (a proof state) is many times as long as a tactic. Here a group is one
sequence, the prompt and then its completions one after the other; a mask lets each completion see
the prompt and itself alone. Values and gradients are those of one row per completion, except for
rounding (a test compares them).

    prompt without its last token │ last token, completion 1 │ last token, completion 2 │ …

The prompt's last token is repeated, since the first token of each completion is predicted from it.
"""

import inspect
from typing import Any

import attrs
import torch
from accelerate.utils import extract_model_from_parallel
from transformers import PreTrainedModel

from lean_dojo_plugins.causal_lm import IGNORED, base_of

FULL = "full_attention"
MASKED = {"sdpa", "eager"}
"""Attention implementations that accept a mask of any shape."""


def why_not_shared(model: Any) -> str | None:
    """Return why a model does not allow shared prompts; ``None`` if it does.

    A mask of our own is for plain attention over the whole sequence: no sliding windows, no
    recurrent or linear layers, no attention kernel that makes its own mask.
    """
    base = base_of(model)
    config = base.config.get_text_config()
    attention = config._attn_implementation  # noqa: SLF001 - transformers has no other name
    if attention not in MASKED:
        return f"its attention ({attention}) does not accept our mask"
    if "position_ids" not in inspect.signature(type(base).forward).parameters:
        return "it does not accept positions"
    layers = set(getattr(config, "layer_types", None) or [FULL])
    # Older configurations name a window, and no types of layers.
    windowed = layers == {FULL} and getattr(config, "sliding_window", None)
    if layers != {FULL} or windowed or getattr(config, "alibi", False):
        return "not all of its attention layers are plain"
    return None


@attrs.frozen
class Groups:
    """A batch of prompts and completions, packed: a row for each distinct prompt."""

    # Of shape (prompts, length):
    input_ids: torch.Tensor
    position_ids: torch.Tensor  # as plain rows would have them
    labels: torch.Tensor  # completion tokens, -100 elsewhere
    segment: torch.Tensor  # 0 for the prompt, 1 … for its completions, -1 for padding
    # Of each token of a completion, of shape (batch, completion):
    rows: torch.Tensor  # the row that it went to
    columns: torch.Tensor  # its column there
    real: torch.Tensor  # whether it is a token, not padding

    def visible(self) -> torch.Tensor:
        """Return the attention mask, ``(prompts, 1, length, length)``.

        A token sees the earlier tokens of the prompt and of its own completion; padding sees
        itself, since a softmax over nothing is NaN.
        """
        asking, seen = self.segment[:, :, None], self.segment[:, None, :]
        length = self.segment.shape[1]
        square = torch.ones(length, length, dtype=torch.bool, device=asking.device)
        same = (seen == asking) & (seen > 0)
        return (square.tril() & ((seen == 0) | same) | square.tril().triu())[:, None]

    def spread(self, values: torch.Tensor) -> torch.Tensor:
        """Map ``(prompts, length - 1)`` scores of labels to ``(batch, completion)``."""
        # Column t of the scores is about the label at column t + 1.
        found = values[self.rows, self.columns - 1]
        return torch.where(self.real, found, torch.zeros_like(found))


def pack(input_ids: torch.Tensor, attention_mask: torch.Tensor, kept: int) -> Groups | None:
    """Pack a batch whose prompts repeat; ``None`` if none does.

    The tensors are ``(batch, length)``: prompts, padded on the left, then completions of length
    ``kept``, padded on the right.
    """
    width = input_ids.shape[1] - kept
    prompts, real_prompt = input_ids[:, :width], attention_mask[:, :width].bool()
    real = attention_mask[:, width:].bool()
    key = torch.where(real_prompt, prompts, IGNORED)
    distinct, row_of = torch.unique(key, dim=0, return_inverse=True)
    if len(distinct) == len(key):
        return None
    lengths = real.sum(1) + 1  # the prompt's last token goes before each completion
    starts, filled = [], [width - 1] * len(distinct)
    for row, length in zip(row_of.tolist(), lengths.tolist(), strict=True):
        starts.append(filled[row])
        filled[row] += length
    shape = (len(distinct), max(filled))
    ids, positions = input_ids.new_zeros(shape), input_ids.new_zeros(shape)
    labels, segment = input_ids.new_full(shape, IGNORED), input_ids.new_full(shape, -1)
    known = distinct != IGNORED
    ids[:, : width - 1] = torch.where(known, distinct, 0)[:, :-1]
    positions[:, : width - 1] = torch.arange(width - 1, device=ids.device)
    segment[:, : width - 1] = torch.where(known, 0, -1)[:, :-1]
    placed = zip(row_of.tolist(), starts, lengths.tolist(), strict=True)
    for index, (row, start, length) in enumerate(placed):
        place = slice(start, start + length)
        ids[row, place] = input_ids[index, width - 1 : width - 1 + length]
        positions[row, place] = torch.arange(width - 1, width - 1 + length, device=ids.device)
        labels[row, start + 1 : start + length] = input_ids[index, width : width - 1 + length]
        segment[row, place] = index + 1
    first = torch.tensor(starts, device=ids.device)[:, None] + 1
    columns = (first + torch.arange(kept, device=ids.device)).clamp(max=shape[1] - 1)
    rows = row_of[:, None].expand(-1, kept)
    return Groups(ids, positions, labels, segment, rows, columns, real)


def score(model: Any, groups: Groups) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the log-probability and entropy of each completion token, ``(batch, completion)``."""
    base = base_of(extract_model_from_parallel(model))
    mask = groups.visible()
    if base.config.get_text_config()._attn_implementation == "eager":  # noqa: SLF001 - as above
        mask = torch.where(mask, 0.0, torch.finfo(base.dtype).min).to(base.dtype)
    outputs = model(
        input_ids=groups.input_ids,
        attention_mask=mask,
        position_ids=groups.position_ids,
        labels=groups.labels,
        fused_lm_head=True,
    )
    return groups.spread(outputs.log_probs), groups.spread(outputs.entropy)


def read_prompts_once(
    model: PreTrainedModel, *, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any
) -> dict[str, Any]:
    """Run each distinct prompt through the model, but for its last token.

    Prompts are ``(batch, length)``, padded on the left. Returns ``past_key_values`` of all rows for
    ``model.generate``, or nothing if no prompt repeats.
    """
    key = torch.where(attention_mask.bool(), input_ids, IGNORED)
    distinct, row_of = torch.unique(key, dim=0, return_inverse=True)
    if len(distinct) == len(key) or input_ids.shape[1] < 2:
        return {}
    mask = (distinct != IGNORED).long()[:, :-1]
    cache = model(
        input_ids=torch.where(distinct != IGNORED, distinct, 0)[:, :-1],
        attention_mask=mask,
        position_ids=(mask.cumsum(1) - 1).clamp(min=0),
        use_cache=True,
        logits_to_keep=1,
    ).past_key_values
    cache.batch_select_indices(row_of)
    return {"past_key_values": cache}
