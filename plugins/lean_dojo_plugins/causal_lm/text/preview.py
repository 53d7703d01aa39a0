"""Examples as a causal LM sees them, for ``lean-dojo preview``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import cast

from transformers import PreTrainedTokenizerBase

from lean_dojo_core import DatasetFormatter, Row, Theorem
from lean_dojo_plugins.causal_lm.text.tokenisation import (
    IGNORED,
    TokenisedExample,
    Tokeniser,
    encode,
)
from lean_dojo_v2.plugin_host.optional_protocols import PreviewExample, PreviewToken

_INCOMPLETE = "\ufffd"
"""The decoder's output for an incomplete multi-token character."""


def preview(
    tokenizer: PreTrainedTokenizerBase,
    formatter: DatasetFormatter,
    theorems: Iterable[Theorem],
    *,
    limit: int = 3,
    max_length: int | None = None,
) -> list[PreviewExample]:
    """Return the first examples, rendered and tokenised as for training.

    Rows with a ``completion`` are shown with their labels; rows of a prompt alone (GRPO) carry no
    loss, which covers the model's own samples. An example that is longer than ``max_length`` is
    shown shortened, or left out, as in training.
    """
    tokeniser = Tokeniser(tokenizer, max_length)
    return list(islice(_examples(tokeniser, formatter, theorems), limit))


def _examples(
    tokeniser: Tokeniser, formatter: DatasetFormatter, theorems: Iterable[Theorem]
) -> Iterator[PreviewExample]:
    for theorem in theorems:
        line = theorem.start[0]
        source = f"{theorem.full_name} ({theorem.file_path}:{line})"
        for row in formatter.rows(theorem):
            before = tokeniser.too_long.shortened
            example = _one(tokeniser, row)
            if example is not None:
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
            if not text.endswith(_INCOMPLETE):
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
