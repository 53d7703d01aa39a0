"""Fast generation of many short completions: a preallocated cache, attention for one token.

transformers' dynamic cache copies every key and value at every token, because a tensor cannot grow.
Here a layer allocates room for several tokens at a time and writes into it; attention sees a view
of the filled part. On a CPU, torch's fused attention dominates when each sample has a single new
query token; plain products are faster there (``experiments/search.py`` measures it).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import Cache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

ROOM = 32
"""Tokens allocated at a time."""


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A dynamic layer that copies its keys and values once per :data:`ROOM` tokens."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rooms: list[torch.Tensor | None] = [None, None]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append the states of new tokens, ``(batch, heads, tokens, size)`` each; return all."""
        if self.keys is None or self.values is None or self.get_seq_length() == 0:
            return super().update(key_states, value_states, *args, **kwargs)
        self.keys = self._appended(0, self.keys, key_states)
        self.values = self._appended(1, self.values, value_states)
        return self.keys, self.values

    def _appended(self, which: int, held: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        start, end = held.shape[-2], held.shape[-2] + new.shape[-2]
        room = self._rooms[which]
        # Selecting or repeating rows gives the layer another tensor than the view of its room.
        if room is None or room.data_ptr() != held.data_ptr() or room.shape[-2] < end:
            batch, heads, _, size = held.shape
            room = held.new_empty(batch, heads, end + ROOM, size)
            room[..., :start, :] = held
            self._rooms[which] = room
        room[..., start:end, :] = new
        return room[..., :end, :]


def make_roomy(cache: Cache) -> None:
    """Preallocate a cache's plain dynamic layers; others (sliding windows, …) are unchanged."""
    for index, layer in enumerate(cache.layers):
        if type(layer) is DynamicLayer and layer.keys is not None and layer.values is not None:
            roomy = RoomyLayer()
            roomy.update(layer.keys, layer.values)
            cache.layers[index] = roomy


@contextmanager
def one_token_at_a_time(model: PreTrainedModel) -> Iterator[None]:
    """Make a model on a CPU attend with plain products during token-by-token generation."""
    usual = model.config._attn_implementation  # noqa: SLF001 - transformers has no other name
    if model.device.type != "cpu" or usual != "sdpa":
        yield
        return
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(usual)
