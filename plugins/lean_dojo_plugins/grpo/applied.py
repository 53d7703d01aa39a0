"""Whether rewards apply at all: a reward that gives ``None`` throughout teaches nothing."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import torch

from lean_dojo_core.errors import RewardError

BATCHES = 2
"""Batches after which a reward that has applied to nothing ends the run."""

_log = logging.getLogger(__name__)


class Applied:
    """To how many completions each reward has applied.

    Args:
        names: The rewards.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._batches = 0
        self._seen = 0
        self._applied = [0] * len(self._names)

    def note(self, scores: torch.Tensor) -> dict[str, float]:
        """Count a batch.

        Args:
            scores: ``float[completions, rewards]``; NaN where a reward does not apply.

        Returns:
            The share of the batch's completions that each reward applied to.

        Raises:
            RewardError: If a reward has applied to none of the first batches.
        """
        here = (~torch.isnan(scores)).sum(dim=0).tolist()
        self._batches += 1
        self._seen += len(scores)
        self._applied = [a + b for a, b in zip(self._applied, here, strict=True)]
        if self._batches == BATCHES:
            for name, applied in zip(self._names, self._applied, strict=True):
                self._judge(name, applied)
        return {
            name: count / max(1, len(scores)) for name, count in zip(self._names, here, strict=True)
        }

    def _judge(self, name: str, applied: int) -> None:
        why = (
            "pantograph-verified does not apply where it cannot open the state: the warnings above "
            "say why, and its setting `projects` names the folders of repositories"
        )
        if applied == 0:
            raise RewardError(
                f"the reward {name} applied to none of the first {self._seen} completions, so "
                f"nothing can be learned from it; {why}. Remove it, or give it what it needs"
            )
        if 2 * applied < self._seen:
            _log.warning(
                "the reward %s did not apply to %d of the first %d completions; %s",
                name,
                self._seen - applied,
                self._seen,
                why,
            )
