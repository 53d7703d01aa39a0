"""Turn chat rows into token ids and labels, and fit a prompt into a length.

The labels are those that TRL gives prompt/completion rows with ``completion_only_loss=True``:
everything from where the rendered prompt ends, the end-of-turn token included. Doing it here, in
one batched pass, allows a goal that is too long to be shortened where it hurts least (TRL would
cut the tactic off) and keeps TRL from writing caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

import attrs
from transformers import PreTrainedTokenizerBase

from lean_dojo_core import Message

PLAIN_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ message['content'] + '\n\n' }}"
    "{% elif message['role'] == 'user' %}{{ '### Goal\n' + message['content'] + '\n\n' }}"
    "{% else %}{{ '### Tactic\n' + message['content'] + (eos_token or '') }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '### Tactic\n' }}{% endif %}"
)
"""Chat template for base models that come without one; saved with the tokenizer."""

IGNORED = -100
"""Label of a token that carries no loss."""

CHUNK = 512
_ATTEMPTS = 6

Item = TypeVar("Item")


@attrs.frozen
class Example:
    """One tokenised training example.

    Attributes:
        input_ids: Prompt and completion.
        labels: As ``input_ids`` in the completion, -100 in the prompt.
    """

    input_ids: list[int]
    labels: list[int]


@attrs.define
class Tokeniser:
    """Tokenises prompt/completion rows for one model.

    Attributes:
        tokenizer: The model's tokenizer, with a chat template.
        max_length: Longest example, in tokens; ``None`` for no limit.
        shortened: How many examples had their goal shortened so far.
        skipped: How many did not fit even so, and were left out.
    """

    tokenizer: PreTrainedTokenizerBase
    max_length: int | None = 1024
    shortened: int = 0
    skipped: int = 0

    def examples(self, rows: Iterable[dict[str, Any]]) -> Iterator[Example]:
        """Tokenise rows with ``prompt`` and ``completion``, lists of messages, in order."""
        for chunk in chunks(rows, CHUNK):
            prompts = encode(self.tokenizer, [row["prompt"] for row in chunk], ask=True)
            whole = encode(
                self.tokenizer, [row["prompt"] + row["completion"] for row in chunk], ask=False
            )
            for row, prompt_ids, ids in zip(chunk, prompts, whole, strict=True):
                if self.max_length is None or len(ids) <= self.max_length:
                    yield labelled(prompt_ids, ids)
                elif (example := self._shorten(row, len(ids))) is not None:
                    self.shortened += 1
                    yield example
                else:
                    self.skipped += 1

    def _shorten(self, row: dict[str, Any], length: int) -> Example | None:
        assert self.max_length is not None
        prompt: list[Message] | None = row["prompt"]
        for _ in range(_ATTEMPTS):
            prompt = shorten(
                self.tokenizer, cast("list[Message]", prompt), length - self.max_length
            )
            if prompt is None:
                return None
            (ids,) = encode(self.tokenizer, [prompt + row["completion"]], ask=False)
            if len(ids) <= self.max_length:
                (prompt_ids,) = encode(self.tokenizer, [prompt], ask=True)
                return labelled(prompt_ids, ids)
            length = len(ids)
        return None


def encode(
    tokenizer: PreTrainedTokenizerBase, conversations: Sequence[list[Message]], *, ask: bool
) -> list[list[int]]:
    """Render conversations by the chat template and tokenise them.

    Args:
        tokenizer: With a chat template.
        conversations: The messages of each.
        ask: Whether the assistant is to answer next.
    """
    texts = cast(
        "list[str]",
        tokenizer.apply_chat_template(
            list(conversations), tokenize=False, add_generation_prompt=ask
        ),
    )
    # The template writes special tokens itself.
    return cast("list[list[int]]", tokenizer(texts, add_special_tokens=False)["input_ids"])


def encode_prompt(
    tokenizer: PreTrainedTokenizerBase, prompt: list[Message], max_tokens: int | None
) -> list[int]:
    """Tokenise a prompt, its goal shortened as in training so that it fits into ``max_tokens``.

    What cannot be made to fit is cut on the left, whatever stands there.
    """
    (ids,) = encode(tokenizer, [prompt], ask=True)
    for _ in range(_ATTEMPTS):
        if max_tokens is None or len(ids) <= max_tokens:
            return ids
        shorter = shorten(tokenizer, prompt, len(ids) - max_tokens)
        if shorter is None:
            break
        prompt = shorter
        (ids,) = encode(tokenizer, [prompt], ask=True)
    return ids if max_tokens is None else ids[-max_tokens:]


def labelled(prompt_ids: Sequence[int], ids: list[int]) -> Example:
    """Mask everything up to where the prompt and the whole conversation diverge."""
    start = 0
    for start, (left, right) in enumerate(zip(prompt_ids, ids, strict=False)):  # noqa: B007
        if left != right:
            break
    else:
        start = min(len(prompt_ids), len(ids))
    return Example(ids, [IGNORED] * start + ids[start:])


def shorten(
    tokenizer: PreTrainedTokenizerBase, prompt: list[Message], excess: int
) -> list[Message] | None:
    """Make the last message about ``excess`` tokens shorter; ``None`` if it has not that many.

    Goals after the first go first (a tactic works on the first one), then hypotheses from the
    top; what stands next to ``⊢`` stays.
    """
    *head, last = prompt
    content = last["content"]
    goals = content.split("\n\n")
    if len(goals) > 1 and all("⊢" in goal for goal in goals):
        shorter = "\n\n".join(goals[:-1])
    else:
        ids = cast("list[int]", tokenizer(content, add_special_tokens=False)["input_ids"])
        if excess >= len(ids):
            return None
        shorter = cast("str", tokenizer.decode(ids[excess:])).lstrip("\ufffd")
        # A hypothesis cut in two is worth nothing: go on at the next whole line.
        _, newline, rest = shorter.partition("\n")
        if newline and "⊢" in rest:
            shorter = rest
    return [*head, {**last, "content": shorter}]


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split a stream into lists of at most ``size`` items."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
