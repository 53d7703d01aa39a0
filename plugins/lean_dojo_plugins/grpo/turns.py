"""Proofs in several turns: Lean's feedback on one comes back, and the model writes another one.

A conversation is one completion to TRL: the assistant's turns, and between them, masked out of the
loss, the feedback. Only the last turn is rewarded, and all turns of the assistant get its advantage
(Kimina-Prover-RL trains on such error fixes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from lean_dojo_core import Message
from lean_dojo_plugins.causal_lm import render

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Feedback: TypeAlias = Callable[..., "list[str | None]"]
"""Returns the feedback on each completion; ``None`` ends the conversation."""
FEEDBACK_TOKENS = 256
"""Tokens reserved for the feedback before each further turn, with the template's tokens."""
_ANSWER = "[the answer]"


@attrs.define
class Conversation:
    """A conversation as TRL sees it: the tokens of its prompt, and those of the completion."""

    place: int  # among those of all processes
    prompt: list[int]
    row: Mapping[str, Any]  # of the dataset
    completion: list[int] = attrs.Factory(list)
    mask: list[int] = attrs.Factory(list)  # of each of its tokens, whether the model wrote it
    logprobs: list[Any] = attrs.Factory(list)  # as they were sampled; 0 for feedback
    last: str = ""  # the text of the last turn; empty if it did not end
    turns: int = 0  # of the model
    feedback: str | None = None  # on the last turn; None if its proof holds

    def add(self, tokens: Sequence[int], logprobs: Sequence[Any] | None, *, own: bool) -> None:
        """Append the model's own tokens, or tokens of feedback."""
        self.completion += tokens
        self.mask += [int(own)] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs
        self.turns += own


@attrs.define(eq=False)
class Turns:
    """TRL's ``rollout_func``: conversations of at most ``most`` turns of the model."""

    most: int
    feedback: Feedback
    played: list[Conversation] = attrs.field(factory=list, repr=False)
    """The conversations of the last batch."""

    def __call__(self, prompts: Sequence[list[Message]], trainer: Any) -> dict[str, Any]:
        """Play a batch; see :class:`trl.GRPOTrainer`."""
        ids = trainer.tokens_of(prompts)
        asked = enumerate(zip(ids, trainer.batch_rows, strict=True), trainer.first_of(len(ids)))
        self.played = [Conversation(place, prompt, row) for place, (prompt, row) in asked]
        sampled = self._turn(self.played, trainer, trainer.group_size)
        for _ in range(self.most - 1):
            going_on = [one for one in self.played if one.feedback is not None and one.last]
            if not going_on:
                break
            for one in going_on:
                tail = turn_after(trainer.processing_class, one.completion, str(one.feedback))
                one.add(tail, None, own=False)
            self._turn(going_on, trainer, 1)  # from now on, each prompt is different
        trainer.wait_for_others()
        return {
            "prompt_ids": [one.prompt for one in self.played],
            "completion_ids": [one.completion for one in self.played],
            "logprobs": [one.logprobs for one in self.played] if sampled else None,
            "env_mask": [one.mask for one in self.played],
        }

    def _turn(self, talks: Sequence[Conversation], trainer: Any, size: int) -> bool:
        """Sample the next turn of each; return whether log-probabilities came, too."""
        asked = [one.prompt + one.completion for one in talks]
        keys = [(one.place, one.turns) for one in talks]
        written, logprobs = trainer.complete(asked, size, keys)
        texts = trainer.processing_class.batch_decode(written, skip_special_tokens=True)
        for place, one in enumerate(talks):
            one.add(written[place], None if logprobs is None else logprobs[place], own=True)
            one.last = texts[place] if trainer.has_ended(written[place]) else ""
        columns = columns_of([one.row for one in talks])
        said = self.feedback([one.last for one in talks], **columns)
        for one, feedback in zip(talks, said, strict=True):
            one.feedback = feedback
        return logprobs is not None

    def metrics(self) -> dict[str, float]:
        """Return ``turns/mean``, and the share of corrected proofs as ``turns/mended``."""
        again = [one for one in self.played if one.turns > 1]
        found = {"turns/mean": sum(one.turns for one in self.played) / max(1, len(self.played))}
        if again:
            found["turns/mended"] = sum(one.feedback is None for one in again) / len(again)
        return found


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, as rewards get them."""
    return {key: [row[key] for row in rows] for key in rows[0] if key != "prompt"}


def turn_after(
    tokenizer: PreTrainedTokenizerBase, completion: Sequence[int], feedback: str
) -> list[int]:
    """Return the tokens between a completion and the model's next turn, by the chat template.

    An end of turn that the model wrote is left out; the feedback is cut to FEEDBACK_TOKENS in all.
    """
    ids = _between(tokenizer, feedback)
    if (excess := len(ids) - FEEDBACK_TOKENS) > 0:
        words: Any = tokenizer(feedback, add_special_tokens=False)["input_ids"]
        feedback = str(tokenizer.decode(words[: max(0, len(words) - excess)])).rstrip("\ufffd")
        ids = _between(tokenizer, feedback)
    return ids[1:] if ids[:1] == list(completion[-1:]) else ids


def _between(tokenizer: PreTrainedTokenizerBase, feedback: str) -> list[int]:
    talk: list[Message] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": _ANSWER},
        {"role": "user", "content": feedback},
    ]
    (text,) = render(tokenizer, [talk], ask=True)
    ids: Any = tokenizer(text.partition(_ANSWER)[2], add_special_tokens=False)["input_ids"]
    return list(ids)
