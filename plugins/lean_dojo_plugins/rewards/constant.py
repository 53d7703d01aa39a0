"""The constant reward."""

from typing import Any

import attrs


@attrs.frozen
class Constant:
    """The same number for every completion.

    Every completion of a group then has advantage 0: nothing is learned. Useful as a control, and
    to run a training loop without Lean.

    >>> Constant()(["simp", "rfl"])
    [1.0, 1.0]
    """

    value: float = attrs.field(
        default=1.0, converter=float, metadata={"help": "Reward of every completion."}
    )

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:  # noqa: ARG002
        """Score a batch."""
        return [self.value] * len(completions)
