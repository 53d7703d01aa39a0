"""Proofs in several turns: what Lean says of one comes back, and the model writes another one.

A conversation is one completion to TRL: the assistant's turns, and between them, masked out of the
loss, what it was told. The last turn alone is rewarded, and all turns of the assistant are learned
from that (Kimina-Prover-RL trains on such fixes of errors).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from transformers import PreTrainedTokenizerBase

from lean_dojo_core import Message
from lean_dojo_plugins.causal_lm.text.templates import render

Feedback: TypeAlias = Callable[..., "list[str | None]"]
"""Says what to tell the model after each completion; ``None`` ends the conversation."""
FEEDBACK_TOKENS = 256
"""Room for what is told before each further turn, with the template's own tokens."""
_ANSWER = "[the answer]"


@attrs.define
class Conversation:
    """A conversation as TRL sees it.

    Attributes:
        prompt: Tokens of the prompt.
        row: Its row of the dataset.
        completion: Tokens after it.
        mask: For each of them, whether the model wrote it.
        logprobs: Their log-probabilities as they were sampled; 0 for what it was told.
        last: The text of the last turn; empty if it did not end.
        turns: How many turns the model had.
        told: What there is to tell after the last one; ``None`` if it holds.
    """

    prompt: list[int]
    row: Mapping[str, Any]
    completion: list[int] = attrs.Factory(list)
    mask: list[int] = attrs.Factory(list)
    logprobs: list[Any] = attrs.Factory(list)
    last: str = ""
    turns: int = 0
    told: str | None = None

    def add(self, tokens: Sequence[int], logprobs: Sequence[Any] | None, *, own: bool) -> None:
        """Go on with tokens of the model's own, or with some that it was told."""
        self.completion += tokens
        self.mask += [int(own)] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs
        self.turns += own


@attrs.define(eq=False)
class Turns:
    """TRL's ``rollout_func``: conversations of so many turns at most.

    Attributes:
        most: Turns of the model at most.
        feedback: What is told.
        played: The conversations of the last batch.
    """

    most: int
    feedback: Feedback
    played: list[Conversation] = attrs.field(factory=list, repr=False)

    def __call__(self, prompts: Sequence[list[Message]], trainer: Any) -> dict[str, Any]:
        """Play a batch; see :class:`trl.GRPOTrainer`."""
        ids = trainer.tokens_of(prompts)
        self.played = [
            Conversation(list(each), row) for each, row in zip(ids, trainer.batch_rows, strict=True)
        ]
        sampled = self._turn(self.played, trainer, trainer.group_size)
        for _ in range(self.most - 1):
            going_on = [one for one in self.played if one.told is not None and one.last]
            if not going_on:
                break
            for one in going_on:
                tail = turn_after(trainer.processing_class, one.completion, str(one.told))
                one.add(tail, None, own=False)
            self._turn(going_on, trainer, 1)  # each goes its own way
        return {
            "prompt_ids": [one.prompt for one in self.played],
            "completion_ids": [one.completion for one in self.played],
            "logprobs": [one.logprobs for one in self.played] if sampled else None,
            "env_mask": [one.mask for one in self.played],
        }

    def _turn(self, talks: Sequence[Conversation], trainer: Any, size: int) -> bool:
        """Have the model write the next turn of each; say whether log-probabilities came too."""
        asked = [one.prompt + one.completion for one in talks]
        written, logprobs = trainer.complete(asked, size)
        texts = trainer.processing_class.batch_decode(written, skip_special_tokens=True)
        for place, one in enumerate(talks):
            one.add(written[place], None if logprobs is None else logprobs[place], own=True)
            one.last = texts[place] if trainer.has_ended(written[place]) else ""
        columns = {key: [one.row[key] for one in talks] for key in talks[0].row if key != "prompt"}
        for one, told in zip(
            talks, self.feedback([one.last for one in talks], **columns), strict=True
        ):
            one.told = told
        return logprobs is not None

    def metrics(self) -> dict[str, float]:
        """Return ``turns/mean``, and which share of the proofs that came back ended well."""
        again = [one for one in self.played if one.turns > 1]
        found = {"turns/mean": sum(one.turns for one in self.played) / max(1, len(self.played))}
        if again:
            found["turns/mended"] = sum(one.told is None for one in again) / len(again)
        return found


def turn_after(
    tokenizer: PreTrainedTokenizerBase, completion: Sequence[int], told: str
) -> list[int]:
    """Return the tokens between the end of a completion and where the model is to go on.

    They are what the chat template writes there. The token that ends a turn is left out where the
    model wrote it itself. What is told is cut so that all fits into :data:`FEEDBACK_TOKENS`.
    """
    ids = _between(tokenizer, told)
    if (excess := len(ids) - FEEDBACK_TOKENS) > 0:
        words: Any = tokenizer(told, add_special_tokens=False)["input_ids"]
        told = str(tokenizer.decode(words[: max(0, len(words) - excess)])).rstrip("\ufffd")
        ids = _between(tokenizer, told)
    return ids[1:] if ids[:1] == list(completion[-1:]) else ids


def _between(tokenizer: PreTrainedTokenizerBase, told: str) -> list[int]:
    talk: list[Message] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": _ANSWER},
        {"role": "user", "content": told},
    ]
    (text,) = render(tokenizer, [talk], ask=True)
    ids: Any = tokenizer(text.partition(_ANSWER)[2], add_special_tokens=False)["input_ids"]
    return list(ids)
