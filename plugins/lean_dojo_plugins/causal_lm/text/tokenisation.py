"""Turn chat rows into token ids and labels, fit a prompt into a length, and preview both.

The labels are those that TRL gives prompt/completion rows with ``completion_only_loss=True``:
everything after the rendered prompt, including the end-of-turn token. Doing it here, in
one batched pass, allows long goals to be shortened where it hurts least (TRL would truncate the
tactic) and keeps TRL from writing caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, cast

import attrs

from lean_dojo_core import Message, PreviewExample, PreviewToken, Row
from lean_dojo_plugins.causal_lm.text.templates import render
from lean_dojo_plugins.training import CHUNK_SIZE, TooLong, chunks

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

IGNORED = -100
"""Label of a token that carries no loss."""

_ATTEMPTS = 8


@attrs.frozen
class TokenisedExample:
    """One tokenised training example; its labels are -100 in the prompt."""

    input_ids: list[int]
    labels: list[int]


@attrs.define
class Tokeniser:
    """Tokenises prompt/completion rows for one model, whose tokenizer has a chat template.

    ``too_long`` counts examples of more than ``max_length`` tokens (``None``: no limit).
    """

    tokenizer: PreTrainedTokenizerBase
    max_length: int | None = 1024
    too_long: TooLong = attrs.field(factory=TooLong)

    def examples(self, rows: Iterable[dict[str, Any]]) -> Iterator[TokenisedExample]:
        """Tokenise rows with ``prompt`` and ``completion``, lists of messages, in order."""
        for chunk in chunks(rows, CHUNK_SIZE):
            prompts = encode(self.tokenizer, [row["prompt"] for row in chunk], ask=True)
            whole = encode(
                self.tokenizer, [row["prompt"] + row["completion"] for row in chunk], ask=False
            )
            for row, prompt_ids, ids in zip(chunk, prompts, whole, strict=True):
                if self.max_length is None or len(ids) <= self.max_length:
                    yield labelled(prompt_ids, ids)
                elif (prompt := self._fit(row["prompt"], row["completion"])) is not None:
                    (asked,) = encode(self.tokenizer, [prompt], ask=True)
                    (both,) = encode(self.tokenizer, [prompt + row["completion"]], ask=False)
                    yield labelled(asked, both)

    def prompts(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Shorten the prompts of rows where they are longer; their other columns stay whole."""
        if self.max_length is None:
            yield from rows
            return
        for chunk in chunks(rows, CHUNK_SIZE):
            asked = encode(self.tokenizer, [row["prompt"] for row in chunk], ask=True)
            for row, ids in zip(chunk, asked, strict=True):
                if len(ids) <= self.max_length:
                    yield row
                elif (prompt := self._fit(row["prompt"])) is not None:
                    yield {**row, "prompt": prompt}

    def _fit(
        self, prompt: list[Message], completion: Sequence[Message] = ()
    ) -> list[Message] | None:
        """Shorten a prompt that is too long, and count it."""
        assert self.max_length is not None
        shorter = fit(self.tokenizer, prompt, self.max_length, completion)
        if shorter is None:
            self.too_long.skipped += 1
        else:
            self.too_long.shortened += 1
        return shorter


def encode(
    tokenizer: PreTrainedTokenizerBase, conversations: Sequence[list[Message]], *, ask: bool
) -> list[list[int]]:
    """Render conversations by the chat template and tokenise them.

    With ``ask`` they end where the assistant's answer begins.
    """
    texts = render(tokenizer, conversations, ask=ask)
    # The template writes special tokens itself; a warning of too long texts comes too early here.
    encoded = tokenizer(texts, add_special_tokens=False, verbose=False)
    return cast("list[list[int]]", encoded["input_ids"])


def encode_prompt(
    tokenizer: PreTrainedTokenizerBase, prompt: list[Message], max_tokens: int | None
) -> list[int]:
    """Tokenise a prompt, its goal shortened as in training so that it fits into ``max_tokens``.

    If not even the instruction fits, the prompt is the first goal alone, cut on the left.
    """
    (ids,) = encode(tokenizer, [prompt], ask=True)
    if max_tokens is None or len(ids) <= max_tokens:
        return ids
    shorter = fit(tokenizer, prompt, max_tokens)
    if shorter is None:
        shorter = _with_goal(prompt, _goals(prompt[-1]["content"])[0])
    (ids,) = encode(tokenizer, [shorter], ask=True)
    return ids[-max_tokens:]


def fit(
    tokenizer: PreTrainedTokenizerBase,
    prompt: list[Message],
    max_tokens: int,
    completion: Sequence[Message] = (),
) -> list[Message] | None:
    """Shorten a prompt's goal, if possible, until it and the completion fit ``max_tokens``."""
    for _ in range(_ATTEMPTS):
        (ids,) = encode(tokenizer, [[*prompt, *completion]], ask=not completion)
        if len(ids) <= max_tokens:
            return prompt
        shorter = shorten(tokenizer, prompt, len(ids) - max_tokens)
        if shorter is None:
            return None
        prompt = shorter
    return None


def labelled(prompt_ids: Sequence[int], ids: list[int]) -> TokenisedExample:
    """Mask everything up to where the prompt and the whole conversation diverge."""
    pairs = enumerate(zip(prompt_ids, ids, strict=False))
    shorter = min(len(prompt_ids), len(ids))
    start = next((place for place, (left, right) in pairs if left != right), shorter)
    return TokenisedExample(ids, [IGNORED] * start + ids[start:])


def shorten(
    tokenizer: PreTrainedTokenizerBase, prompt: list[Message], excess: int
) -> list[Message] | None:
    """Make the last message about ``excess`` tokens shorter; ``None`` if it is too short for that.

    Goals after the first are dropped first (a tactic works on the first one), then hypotheses
    from the top; the text next to ``⊢`` is kept.
    """
    content = prompt[-1]["content"]
    goals = _goals(content)
    if len(goals) > 1:
        texts = [f"\n\n{goal}" for goal in goals[1:]]
        lengths = [len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
        while lengths and excess > 0:
            excess -= lengths.pop()
        shorter = "\n\n".join(goals[: 1 + len(lengths)])
    else:
        ids = cast("list[int]", tokenizer(content, add_special_tokens=False)["input_ids"])
        if excess >= len(ids):
            return None
        shorter = cast("str", tokenizer.decode(ids[excess:])).lstrip("\ufffd")
        # Half a hypothesis is useless: continue at the next whole line.
        _, newline, rest = shorter.partition("\n")
        if newline and "⊢" in rest:
            shorter = rest
    return _with_goal(prompt, shorter)


def _goals(content: str) -> list[str]:
    """Split a state into its goals; any other text is one piece."""
    goals = content.split("\n\n")
    return goals if all("⊢" in goal for goal in goals) else [content]


def _with_goal(prompt: list[Message], goal: str) -> list[Message]:
    *head, last = prompt
    return [*head, {**last, "content": goal}]


def preview_rows(
    tokeniser: Tokeniser, rows: Iterable[tuple[str, Row]], limit: int
) -> list[PreviewExample]:
    """Return the first examples, rendered and tokenised as for training: shortened, or left out.

    Each row comes with where it is from. Rows with a ``completion`` are shown with their labels;
    rows of a prompt alone (GRPO) carry no loss, which covers the model's own samples.
    """
    return list(islice(_examples(tokeniser, rows), limit))


def _examples(tokeniser: Tokeniser, rows: Iterable[tuple[str, Row]]) -> Iterator[PreviewExample]:
    for source, row in rows:
        before = tokeniser.too_long.shortened
        if (example := _one(tokeniser, row)) is not None:
            is_cut = tokeniser.too_long.shortened > before
            remark = "its goal is shortened to fit" if is_cut else ""
            yield PreviewExample(source, tuple(_tokens(tokeniser.tokenizer, example)), remark)


def _one(tokeniser: Tokeniser, row: Row) -> TokenisedExample | None:
    """Tokenise one row; ``None`` if training would leave it out."""
    if "completion" in row:
        return next(tokeniser.examples([row]), None)
    for kept in tokeniser.prompts([row]):
        (ids,) = encode(tokeniser.tokenizer, [kept["prompt"]], ask=True)
        return TokenisedExample(ids, [IGNORED] * len(ids))
    return None


def _tokens(
    tokenizer: PreTrainedTokenizerBase, example: TokenisedExample
) -> Iterator[PreviewToken]:
    """Yield the text that each token adds; tokens that share a character are given as one."""
    pairs = zip(example.input_ids, example.labels, strict=True)
    before: list[int] = []
    for loss, run in groupby(pairs, key=lambda pair: pair[1] != IGNORED):
        pending: list[int] = []
        for token, _ in run:
            pending.append(token)
            text = _added(tokenizer, before, pending)
            if not text.endswith("\ufffd"):  # else a character goes on in the next token
                yield PreviewToken(text, loss)
                before, pending = [*before, *pending], []
        if pending:
            yield PreviewToken(_added(tokenizer, before, pending), loss)
            before = [*before, *pending]


def _added(tokenizer: PreTrainedTokenizerBase, before: Sequence[int], new: list[int]) -> str:
    """Decode in context: alone, many tokenizers drop a token's leading space."""
    context = list(before[-4:])
    whole = cast("str", tokenizer.decode([*context, *new]))
    return whole.removeprefix(cast("str", tokenizer.decode(context)))
