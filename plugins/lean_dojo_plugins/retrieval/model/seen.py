"""Record of a model's training data, so that evaluations can report overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lean_dojo_plugins.retrieval.data.examples import RetrievalExamples


@attrs.frozen(eq=False)
class Seen:
    """Keys of everything a model was trained on.

    Attributes:
        theorems: ``uint64``: keys of theorems, from file and name; the same theorem traced again,
            or at another commit, has the same key.
        states: ``uint64``: keys of states' texts.
        repositories: ``url@commit`` of the repositories, in training order.
    """

    theorems: npt.NDArray[np.uint64] = attrs.field(factory=lambda: np.zeros(0, np.uint64))
    states: npt.NDArray[np.uint64] = attrs.field(factory=lambda: np.zeros(0, np.uint64))
    repositories: tuple[str, ...] = ()

    def plus(self, examples: RetrievalExamples, repositories: tuple[str, ...]) -> Seen:
        """Add a training set."""
        return Seen(
            np.union1d(self.theorems, examples.keys),
            np.union1d(self.states, examples.state_keys()),
            tuple(dict.fromkeys((*self.repositories, *repositories))),
        )

    def overlap(self, examples: RetrievalExamples) -> tuple[int, int]:
        """Count the theorems of a split, and its states, that were trained on."""
        theorems = int(np.isin(examples.keys, self.theorems).sum())
        return theorems, int(np.isin(examples.state_keys(), self.states).sum())

    def to_state(self) -> dict[str, Any]:
        """Return plain tensors and strings for a checkpoint."""
        return {
            "theorems": torch.from_numpy(self.theorems.view(np.int64)),
            "states": torch.from_numpy(self.states.view(np.int64)),
            "repositories": list(self.repositories),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None) -> Seen:
        """Restore from :meth:`to_state`; ``None`` for a model without a record."""
        if state is None:
            return cls()
        return cls(
            state["theorems"].numpy().view(np.uint64),
            state["states"].numpy().view(np.uint64),
            tuple(state["repositories"]),
        )
