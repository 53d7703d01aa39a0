"""Optional methods of trainers, used by commands: evaluation, prover settings, previews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import attrs

from lean_dojo_core.records import Evaluation, Theorem


@runtime_checkable
class Evaluates(Protocol):
    """A trainer that can evaluate its model, for ``lean-dojo evaluate``."""

    def evaluate(self, data_path: Path | str | None = None, split: str = "val") -> Evaluation:
        """Measure the trained model or, before training, the start model.

        Args:
            data_path: Exported data; the training's own data if not given.
            split: ``"val"``, ``"test"`` or ``"train"``.
        """


@runtime_checkable
class Proves(Protocol):
    """A trainer that provides the settings of its descriptor's ``prover``.

    For a trainer without this method, the prover gets ``output_dir`` as its model.
    """

    def prover_settings(self) -> Mapping[str, object]:
        """Return settings of the prover, including its model."""


@attrs.frozen
class PreviewToken:
    """One token of an example.

    Attributes:
        text: Its text; joined, the texts of an example are the model's input.
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
        remark: A remark, for example that it was cut; may be empty.
    """

    source: str
    tokens: tuple[PreviewToken, ...]
    remark: str = ""


@runtime_checkable
class Previews(Protocol):
    """A trainer that can show its examples, for ``lean-dojo preview``.

    For a trainer without this method, the rows of its formatter are shown.
    """

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return the first examples, formatted and tokenised as in training.

        Args:
            theorems: Traced theorems, read only as far as needed.
            limit: How many examples at most.
        """
