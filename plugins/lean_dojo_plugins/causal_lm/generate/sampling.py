"""Sample completions of many prompts at once, by draws that depend on a prompt's own seed.

A prompt is run through the model once; its keys and values are then repeated for the samples.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs
import torch
from transformers import Cache, LogitsProcessor, PreTrainedModel

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training import chunks

KEPT_SHARE = 0.75
"""Finished samples stay in the batch until at most this share is unfinished, since dropping them
copies the cache."""

Sample: TypeAlias = tuple[list[int], float]
"""The tokens of a completion, none if it did not end, and its log-probability."""


Hopes: TypeAlias = Callable[[int, list[int]], bool | None]
"""Of a sample, by its number, and its tokens so far: whether it may become what is wanted; ``None``
if that is not known yet. Asked no more once it is."""


def uniforms(seeds: Sequence[int], samples: int, tokens: int, device: torch.device) -> torch.Tensor:
    """Draw a number for every token that may be sampled, from the goals' own seeds.

    They are drawn on the CPU, so they are the same on all devices. The result has the shape
    ``(goals * samples, tokens)``, a goal's samples together, with numbers in [0, 1).
    """
    exact = torch.float32 if device.type == "mps" else torch.float64
    rows = [
        torch.rand(samples, tokens, generator=torch.Generator().manual_seed(seed), dtype=exact)
        for seed in seeds
    ]
    return torch.cat(rows).to(device)


def pick(probabilities: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """Choose by the inverse of the cumulative distribution.

    Of ``(rows, vocabulary)`` probabilities, which need not sum to 1, and ``(rows,)`` draws in
    [0, 1) the result is ``(rows,)`` indices, never of an entry with probability 0.
    """
    cumulative = probabilities.cumsum(-1, dtype=draws.dtype)
    wanted = draws[:, None] * cumulative[:, -1:]
    found = torch.searchsorted(cumulative, wanted, right=True).squeeze(1)
    return found.clamp(max=probabilities.shape[1] - 1)


def _chosen(scores: torch.Tensor, draws: torch.Tensor, temperature: float) -> torch.Tensor:
    """Choose a token for each row of ``(rows, vocabulary)`` scores, by its own draw."""
    if temperature == 0:
        return scores.argmax(-1)
    return pick(torch.softmax(scores / temperature, dim=-1), draws)


class OwnDraws(LogitsProcessor):
    """Leaves only the token that a row's own draw chooses.

    ``draws`` are ``(rows, tokens)`` numbers in [0, 1); ``start`` is the prompts' padded length.
    """

    def __init__(self, draws: torch.Tensor, start: int, temperature: float = 1.0) -> None:
        self.draws, self.start, self.temperature = draws, start, temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Choose the token after ``input_ids``."""
        draws = self.draws[:, input_ids.shape[1] - self.start]
        chosen = _chosen(scores.float(), draws, self.temperature)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


@attrs.frozen
class Choice:
    """Choice of the next token, and what ends a completion: tokens, or that there is no hope."""

    temperature: float
    draws: torch.Tensor  # (samples, tokens)
    ends: torch.Tensor
    hopes: Hopes | None = None


@torch.inference_mode()
def sample(
    model: PreTrainedModel, prompts: Sequence[list[int]], choice: Choice, *, pad: int
) -> list[list[Sample]]:
    """Sample completions of each prompt, as many and of as many tokens as there are draws."""
    width, samples = max(map(len, prompts)), len(choice.draws) // len(prompts)
    padding = [width - len(prompt) for prompt in prompts]  # on the left
    ids = torch.tensor([[pad] * n + prompt for n, prompt in zip(padding, prompts, strict=True)])
    mask = (torch.arange(width) >= torch.tensor(padding)[:, None]).long().to(model.device)
    output = model(
        input_ids=ids.to(model.device),
        attention_mask=mask,
        position_ids=(mask.cumsum(1) - 1).clamp(min=0),
        use_cache=True,
        logits_to_keep=1,
    )
    try:
        if samples > 1:
            output.past_key_values.batch_repeat_interleave(samples)
    except AttributeError as error:  # linear attention and other recurrent states
        raise UsageError(
            f"{type(model).__name__} keeps a state that transformers cannot repeat for "
            "several samples; serve the model, for example with `vllm serve`, and name "
            "the server with --endpoint"
        ) from error
    scored = _go_on(
        model,
        output.past_key_values,
        output.logits[:, -1].repeat_interleave(samples, dim=0),
        mask.repeat_interleave(samples, dim=0),
        choice,
    )
    return list(chunks(scored, samples))


def _go_on(
    model: PreTrainedModel,
    cache: Cache,
    logits: torch.Tensor,
    mask: torch.Tensor,
    choice: Choice,
) -> list[Sample]:
    """Write completions after prompts whose keys and values are in the cache, a row a sample.

    ``logits``, ``(samples, vocabulary)``, follow the prompts; ``mask`` is ``(samples, length)``.
    A completion that does not end in time, or is without hope, gives no tokens.
    """
    rows = torch.arange(len(mask), device=mask.device)  # the samples that are computed
    ended = torch.zeros(len(mask), dtype=torch.bool, device=mask.device)
    totals = torch.zeros(len(mask), device=mask.device)
    texts: list[list[int]] = [[] for _ in range(len(mask))]
    undecided = set(range(len(mask)))
    for step in range(choice.draws.shape[1]):
        log_probs = torch.log_softmax(logits.float(), dim=-1)
        chosen = _chosen(log_probs, choice.draws[rows, step], choice.temperature)
        going_on = ~ended[rows]
        gained = log_probs.gather(1, chosen[:, None]).squeeze(1)
        totals[rows] += torch.where(going_on, gained, 0.0)
        each = (rows.tolist(), chosen.tolist(), going_on.tolist())
        for sample, token, counts in zip(*each, strict=True):
            if counts:
                texts[sample].append(token)
        ended[rows] |= torch.isin(chosen, choice.ends)
        if choice.hopes is not None and undecided:
            undecided.difference_update(ended.nonzero().flatten().tolist())
            for sample in sorted(undecided):
                hope = choice.hopes(sample, texts[sample])
                if hope is not None:
                    undecided.remove(sample)
                if hope is False:
                    texts[sample], ended[sample] = [], True
        keep = (~ended[rows]).nonzero().squeeze(1)
        if len(keep) == 0:
            break
        if len(keep) <= KEPT_SHARE * len(rows):
            cache.batch_select_indices(keep)
            rows, chosen, mask = rows[keep], chosen[keep], mask[keep]
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        output = model(
            input_ids=chosen[:, None],
            attention_mask=mask,
            position_ids=mask.sum(1, keepdim=True) - 1,
            past_key_values=cache,
            use_cache=True,
        )
        cache, logits = output.past_key_values, output.logits[:, -1]
    return [
        (tokens if over else [], total)
        for tokens, total, over in zip(texts, totals.tolist(), ended.tolist(), strict=True)
    ]
