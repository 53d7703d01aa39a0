"""The dataset formatter of progress prediction."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from lean_dojo_core import Message, Row, Theorem
from lean_dojo_v2.lean_progress import examples_of, progress_text


@attrs.frozen
class ProgressText:
    """Rows of LeanProgress: one for every tactic of a finished proof.

    >>> ProgressText().prompt("⊢ True")[0]["content"].splitlines()[0]
    'Goal:'
    """

    columns: ClassVar[tuple[str, ...]] = ("goal", "prefix", "tactic", "steps_remaining", "theorem")

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield the rows of one theorem; none if its proof has a ``sorry``."""
        for example in examples_of(theorem):
            row = example.to_dict()
            yield {column: row.get(column, "") for column in self.columns}

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:  # noqa: ARG002
        """Return the model's input at the start of a proof, before any candidate."""
        return [{"role": "user", "content": progress_text(goal, "", "")}]
