"""Tactics from a sequence-to-sequence model: premises and goal in, a tactic out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, LogitsProcessorList
from transformers.modeling_outputs import BaseModelOutput

from lean_dojo_core import remove_marks
from lean_dojo_plugins.causal_lm import OwnDraws, uniforms
from lean_dojo_plugins.retrieval.data.batches import load_tokenizer
from lean_dojo_plugins.training import choose_device, chunks, fetch
from lean_dojo_v2.prover import Suggestion

BATCH_SAMPLES = 256
"""Tactics sampled at once; bounds memory."""


class Seq2SeqGenerator:
    """Samples tactics from a model such as ReProver's (Yang et al. 2023, "LeanDojo").

    Of ``max_length`` tokens the goal is kept, then the best premises. Batches without seeds
    continue a sequence from ``seed``.
    """

    def __init__(
        self,
        name: str | Path,
        *,
        device: str = "auto",
        max_length: int = 2300,
        max_new_tokens: int = 256,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> None:
        chosen = choose_device(device)
        model = fetch(
            AutoModelForSeq2SeqLM.from_pretrained,
            str(name),
            what="generator",
            dtype=chosen.frozen_dtype,
        )
        self.model: Any = model.to(chosen.name).eval()
        self.tokenizer = load_tokenizer(str(name))
        self.max_length = max_length
        self.max_new_tokens = max_new_tokens
        self.temperature = temperature
        self._random = torch.Generator().manual_seed(seed)

    def generate(
        self,
        goals: Sequence[str],
        *,
        num_samples: int,
        premises: Sequence[Sequence[str]] = (),
        seeds: Sequence[int] = (),
    ) -> list[list[Suggestion]]:
        """Sample tactics; see :class:`lean_dojo_v2.prover.suggestion.TacticGenerator`."""
        given = premises or [()] * len(goals)
        ids = [self.input_ids(goal, texts) for goal, texts in zip(goals, given, strict=True)]
        own = list(seeds) or torch.randint(2**62, (len(ids),), generator=self._random).tolist()
        size = max(1, BATCH_SAMPLES // num_samples)
        found: list[list[Suggestion]] = []
        for part in chunks(zip(ids, own, strict=True), size):
            found += self._sample([p for p, _ in part], num_samples, [s for _, s in part])
        return found

    def input_ids(self, goal: str, premises: Sequence[str]) -> list[int]:
        """Return the tokens of premises and goal, the premises best first, as many as fit."""
        end = self.tokenizer.eos_token_id
        state = self._encode(remove_marks(goal))[-(self.max_length - 1) :]
        room = self.max_length - 1 - len(state)
        before: list[int] = []
        for premise in premises:
            tokens = self._encode(f"{premise}\n\n")
            if len(tokens) > room - len(before):
                break
            before += tokens
        return [*before, *state, *([] if end is None else [end])]

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    @torch.inference_mode()
    def _sample(
        self, prompts: Sequence[list[int]], samples: int, seeds: Sequence[int]
    ) -> list[list[Suggestion]]:
        device = self.model.device
        width = max(map(len, prompts))
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([p + [pad] * (width - len(p)) for p in prompts], device=device)
        mask = torch.tensor([[1] * len(p) + [0] * (width - len(p)) for p in prompts], device=device)
        read = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        draws = uniforms(seeds, samples, self.max_new_tokens, device)
        drawn = OwnDraws(draws, 1, self.temperature)  # after the decoder's start token
        output = self.model.generate(
            encoder_outputs=BaseModelOutput(read.repeat_interleave(samples, dim=0)),
            attention_mask=mask.repeat_interleave(samples, dim=0),
            do_sample=False,  # the processor has already sampled
            num_beams=1,
            logits_processor=LogitsProcessorList([drawn]),
            max_new_tokens=self.max_new_tokens,
            return_dict_in_generate=True,
            output_logits=True,
        )
        rows = output.sequences[:, 1:]  # without the decoder's start token
        chosen = self.model.compute_transition_scores(
            output.sequences, output.logits, normalize_logits=True
        )
        ended = rows == self.tokenizer.eos_token_id
        until_end = (ended.cumsum(1) - ended.long()) == 0
        totals = (chosen * until_end).sum(1).tolist()
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=True)
        finished = ended.any(1).tolist()
        return [
            _distinct(texts[start : start + samples], totals[start:], finished[start:])
            for start in range(0, len(texts), samples)
        ]


def _distinct(
    texts: Sequence[str], logprobs: Sequence[float], finished: Sequence[bool]
) -> list[Suggestion]:
    """Return each complete tactic once, on one line; broken ones are left out."""
    best: dict[str, float] = {}
    for text, logprob, whole in zip(texts, logprobs, finished, strict=False):
        tactic = remove_marks(text).strip()
        if whole and tactic and "\n" not in tactic and "\ufffd" not in tactic:
            best[tactic] = max(logprob, best.get(tactic, logprob))
    return [Suggestion(tactic, round(logprob, 4)) for tactic, logprob in best.items()]
