"""What ``lean-dojo preview`` shows: examples as the model sees them, token by token.

Optional for a trainer: one that has a ``preview`` method with the signature of :class:`Previews` is
previewed with its tokens; for any other the rows of its formatter are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import attrs

from lean_dojo_core.records import Theorem


@attrs.frozen
class PreviewToken:
    """One token of an example.

    Attributes:
        text: Its text; the texts of an example, joined, are what the model reads.
        loss: Whether the model is trained to predict it.
    """

    text: str
    loss: bool


@attrs.frozen
class PreviewExample:
    """One training example.

    Attributes:
        source: Where it comes from, for example ``"Sample.Nat.add_zero (Sample/Nat.lean:12)"``.
        tokens: Its tokens, special ones included; padding left out.
        remark: What a reader should know, for example that it was cut; empty if nothing.
    """

    source: str
    tokens: tuple[PreviewToken, ...]
    remark: str = ""


@runtime_checkable
class Previews(Protocol):
    """A trainer that can show its examples."""

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return the first examples, formatted and tokenised as in training.

        Args:
            theorems: Traced theorems, read only as far as needed.
            limit: How many examples at most.
        """
