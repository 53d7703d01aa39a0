"""Sampling with draws that belong to a completion, not to its batch.

A completion is the same in one process as in several, and after a killed run goes on: its draws
follow from the run's seed, the optimiser step, its prompt and its place in the whole batch. (TRL
generates anew where a run goes on: with ``num_iterations`` or ``steps_per_generation`` above the
default, a run killed between two generations goes on with other samples.) The
model's log-probabilities may differ in their last digits between batches of other shapes.
"""

import copy
import hashlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedModel

from lean_dojo_plugins.causal_lm import OwnDraws, uniforms
from lean_dojo_plugins.grpo.shared_prompt import read_prompts_once


def seed_of(*parts: Hashable) -> int:
    """Return a seed, below 2**63, that follows from the printed form of its parts."""
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _decoding(seeds: Sequence[int], in_step: bool) -> Callable[..., Any]:
    """Make a decoding method for ``generate(custom_generate=…)`` with a seed for each row."""

    def decode(
        model: Any,
        input_ids: torch.Tensor,
        logits_processor: LogitsProcessorList,
        generation_config: GenerationConfig,
        **options: Any,
    ) -> Any:
        start = input_ids.shape[1]
        draws = uniforms(seeds, 1, int(generation_config.max_length) - start, input_ids.device)
        # After temperature, top_k and whatever else the configuration asks for.
        processors = LogitsProcessorList([*logits_processor, OwnDraws(draws, start)])
        chosen = copy.copy(generation_config)
        chosen.do_sample = False  # one token is left: a second draw from the vocabulary costs time
        return model._sample(  # noqa: SLF001 - what generate itself would call
            input_ids,
            logits_processor=processors,
            generation_config=chosen,
            synced_gpus=in_step,  # generate leaves it out for a decoding method that it is given
            **options,
        )

    return decode


@contextmanager
def drawn_by_seed(
    model: PreTrainedModel, seeds: Sequence[int], *, share_prompts: bool, in_step: bool = False
) -> Iterator[None]:
    """Let ``model.generate`` draw each row by its seed within a ``with`` block.

    There is one seed for each row. With ``share_prompts`` each distinct prompt is read once. With
    ``in_step`` every process computes as many tokens as the others: the weights are in shards.
    """
    generate: Any = model.generate  # which TRL calls, and offers no hook for

    def seeded(**options: Any) -> Any:
        cache = read_prompts_once(model, **options) if share_prompts else {}
        return generate(**options, **cache, custom_generate=_decoding(seeds, in_step))

    with mock.patch.object(model, "generate", seeded):
        yield
