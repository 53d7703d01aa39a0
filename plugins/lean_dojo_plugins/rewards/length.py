"""The length-penalised reward."""

from typing import Any

import attrs

from lean_dojo_plugins.rewards.adapter import completion_texts


@attrs.frozen
class LengthPenalised:
    """``max(0, 1 - len(tactic) / scale)``; ``penalty`` for a text with ``sorry`` or ``admit``.

    Blocked words are matched as substrings: ``my_sorry_lemma`` is blocked, too.
    It does not check whether a tactic *works*: combine it with ``pantograph-verified``.

    >>> LengthPenalised()(["simp", "exact sorry", "x" * 300])
    [0.98, -1.0, 0.0]
    """

    scale: int = attrs.field(
        default=200,
        validator=attrs.validators.gt(0),
        metadata={"help": "Characters at which the reward reaches 0."},
    )
    penalty: float = attrs.field(
        default=-1.0,
        converter=float,
        metadata={"help": "Reward of a text with sorry or admit."},
    )

    def __call__(self, completions: list[Any], **kwargs: Any) -> list[float]:  # noqa: ARG002
        """Score texts or TRL's message lists: each between ``penalty`` and 1."""
        return [self._score(text) for text in completion_texts(completions)]

    def _score(self, tactic: str) -> float:
        if "sorry" in tactic or "admit" in tactic:
            return self.penalty
        return max(0.0, 1.0 - len(tactic) / self.scale)
