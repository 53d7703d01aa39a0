"""Hand completions over as soon as they end, while others of their batch are still written.

A batch is generated token by token until its longest completion ends. Lean can verify the short
ones meanwhile; what is left to wait for after the last token are the last completions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import torch
from transformers import PreTrainedTokenizerBase, StoppingCriteria, StoppingCriteriaList

Report: TypeAlias = Callable[[Sequence[int], Sequence[str]], None]
"""Told which rows have ended since the last token, and their texts."""


class FinishedRows(StoppingCriteria):
    """Stops nothing; reports each row once, when one of the tokens ``ends`` ends its completion.

    Completions are decoded as TRL does: without special tokens.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, ends: Sequence[int], report: Report
    ) -> None:
        self._tokenizer = tokenizer
        self._ends = torch.tensor(list(ends))
        self._report = report
        self._start: int | None = None
        self._over: torch.Tensor | None = None

    def __call__(
        self, input_ids: torch.Tensor, scores: torch.Tensor | None, **kwargs: Any
    ) -> torch.Tensor:
        """Look at the newest token of every row; ``input_ids`` has shape ``(rows, length)``."""
        del scores, kwargs
        if self._over is None or self._start is None:  # called first after the first new token
            self._start = input_ids.shape[1] - 1
            self._over = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
            self._ends = self._ends.to(input_ids.device)
        ended = torch.isin(input_ids[:, -1], self._ends) & ~self._over
        self._over |= ended
        rows = ended.nonzero().flatten().tolist()
        if rows:
            texts = self._tokenizer.batch_decode(
                input_ids[rows, self._start :], skip_special_tokens=True
            )
            self._report(rows, texts)
        return torch.zeros_like(self._over)


@contextmanager
def generating_by(model: Any, generate: Callable[..., Any]) -> Iterator[None]:
    """Have ``model.generate`` be another function in a ``with`` block; TRL gives no way to it."""
    own = vars(model).get("generate")
    model.generate = generate
    try:
        yield
    finally:
        del model.generate
        if own is not None:
            model.generate = own


def watched(model: Any, watcher: StoppingCriteria) -> AbstractContextManager[None]:
    """Have a watcher look at every token that ``model.generate`` writes in a ``with`` block."""
    generate = model.generate

    def with_watcher(*args: Any, **kwargs: Any) -> Any:
        return generate(*args, stopping_criteria=StoppingCriteriaList([watcher]), **kwargs)

    return generating_by(model, with_watcher)
