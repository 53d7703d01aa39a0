"""Detection of rewards that never apply: ``None`` throughout teaches nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import torch

from lean_dojo_v2.errors import RewardError

BATCHES = 2
"""Number of batches after which a reward that never applied ends the run."""

_log = logging.getLogger(__name__)


class Applied:
    """Counts the completions to which each reward applied."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._first: list[torch.Tensor] = []

    def note(self, scores: torch.Tensor) -> dict[str, float]:
        """Count a batch: ``float[completions, rewards]``, NaN where a reward does not apply.

        Returns:
            The share of the batch's completions that each reward applied to.

        Raises:
            RewardError: If a reward has applied to none of the first batches.
        """
        applied = ~torch.isnan(scores)
        if len(self._first) < BATCHES:
            self._first.append(applied)
            if len(self._first) == BATCHES:
                together = torch.cat(self._first)
                for name, count in self._counts(together):
                    self._judge(name, count, len(together))
        return {name: count / max(1, len(scores)) for name, count in self._counts(applied)}

    def _counts(self, applied: torch.Tensor) -> Iterable[tuple[str, int]]:
        return zip(self._names, applied.sum(dim=0).tolist(), strict=True)

    def _judge(self, name: str, applied: int, seen: int) -> None:
        why = (
            "pantograph-verified does not apply where it cannot open the state: the warnings above "
            "say why, and its setting `projects` names the folders of repositories"
        )
        if applied == 0:
            raise RewardError(
                f"the reward {name} applied to none of the first {seen} completions, so "
                f"nothing can be learned from it; {why}. Remove it, or give it what it needs"
            )
        if 2 * applied < seen:
            _log.warning(
                "the reward %s did not apply to %d of the first %d completions; %s",
                name,
                seen - applied,
                seen,
                why,
            )
