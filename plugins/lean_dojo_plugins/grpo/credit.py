"""From spans of characters to tokens: what a reward says of parts of a completion."""

from collections.abc import Sequence

import torch
from transformers import PreTrainedTokenizerBase

from lean_dojo_core import Span


def token_values(
    tokenizer: PreTrainedTokenizerBase,
    spans: Sequence[Sequence[Span] | None],
    completions: Sequence[str],
    completion_ids: torch.Tensor,
    completion_mask: torch.Tensor,
    *,
    first_token: bool = False,
) -> torch.Tensor:
    """Give each token the value of the innermost span that its first visible character is in.

    Each completion has spans of its text, as rewards see it, or ``None``; of a conversation of
    several turns it is the last one. Ids and mask (1 for the model's own tokens) are
    ``(completions, tokens)``, and so are the values, in float32; they are 0 outside of all spans.
    With ``first_token`` only the first token of a span gets its value.
    """
    values = torch.zeros(completion_ids.shape, dtype=torch.float32, device=completion_ids.device)
    for row, (own, text) in enumerate(zip(spans, completions, strict=True)):
        if not own:
            continue
        start, end = _last_turn(completion_mask[row].tolist())
        ids = completion_ids[row, start:end].tolist()
        found = _values_of(own, text, *_places(tokenizer, ids), first_token=first_token)
        values[row, start:end] = torch.tensor(found, device=values.device)
    return values


def _last_turn(mask: Sequence[int]) -> tuple[int, int]:
    """Return the last run of the model's own tokens."""
    end = len(mask)
    while end and not mask[end - 1]:
        end -= 1
    start = end
    while start and mask[start - 1]:
        start -= 1
    return start, end


def _places(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]
) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of tokens, and the characters of each; special tokens have none."""

    def decoded(part: Sequence[int]) -> str:
        return str(tokenizer.decode(list(part), skip_special_tokens=True))

    text, places = "", []
    known, read, waiting = 0, 0, 0
    for index in range(len(ids)):
        # A token's text may depend on the one before it, and a character may have several tokens.
        before, now = decoded(ids[known:read]), decoded(ids[known : index + 1])
        waiting += 1
        if len(now) > len(before) and not now.endswith("\ufffd"):  # else unfinished
            start, text = len(text), text + now[len(before) :]
            places += [(start, len(text))] * waiting
            known, read, waiting = read, index + 1, 0
    whole = decoded(ids)
    if text != whole:  # it ends within a character, or the tokenizer looks farther back
        ends = [len(decoded(ids[: index + 1])) for index in range(len(ids))]
        return whole, list(zip([0, *ends], ends, strict=False))
    return text, places + [(len(text), len(text))] * waiting


def _values_of(
    spans: Sequence[Span],
    completion: str,
    text: str,
    places: Sequence[tuple[int, int]],
    *,
    first_token: bool,
) -> list[float]:
    values = [0.0] * len(places)
    shift = text.find(completion)
    if shift < 0:  # a reward was given another text than the tokens'
        return values
    seen = [_first_visible(text, *place) for place in places]
    closing = [index for index, (start, _) in enumerate(places) if start >= len(text)]
    for span in sorted(spans, key=lambda one: one.start - one.end):  # inner ones overwrite
        start, end = span.start + shift, span.end + shift
        inside = [index for index, at in enumerate(seen) if at is not None and start <= at < end]
        if span.start == span.end == len(completion):
            inside = closing[:1]
        for index in inside[:1] if first_token else inside:
            values[index] = span.value
    return values


def _first_visible(text: str, start: int, end: int) -> int | None:
    """Return the index of the first character, white space last; ``None`` for no characters."""
    if start == end:
        return None
    visible = text[start:end].lstrip()
    return end - len(visible) if visible else start
