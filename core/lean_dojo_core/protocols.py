"""What the target of a descriptor must be: the three protocols of the contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from lean_dojo_core.records import Theorem

Message: TypeAlias = dict[str, str]
"""A chat message: ``{"role": …, "content": …}``."""

Row: TypeAlias = dict[str, Any]
"""One row of a dataset; its keys are the formatter's columns."""


@runtime_checkable
class Trainer(Protocol):
    """A training objective.

    The constructor's parameters are the trainer's settings; ``lean-dojo show NAME`` lists them. A
    trainer that is an attrs class gets help texts from the fields' ``metadata["help"]``.
    """

    output_dir: Any
    """Where the result lies: a folder (``str`` or ``Path``) that loads at any moment."""

    def train(self, repos: Sequence[Any], database: Any, data_path: Path) -> None:
        """Train on the repositories, in their order, cumulatively.

        Args:
            repos: Repositories in curriculum order; each has ``url`` and ``commit``.
            database: The database that holds their traced theorems; it has
                ``export_merged_data(repos, data_path)``.
            data_path: Folder for the exported data.
        """


@runtime_checkable
class DatasetFormatter(Protocol):
    """Turns traced theorems into rows, and a goal into the prompt of the same text.

    A formatter that gives a tactic several rows may also have ``evaluate_with``, the name of
    another formatter, whose rows are then what trainers measure on.
    """

    columns: tuple[str, ...]
    """The keys of every row."""

    def rows(self, theorem: Theorem) -> Iterable[Row]:
        """Give the rows of one theorem; none where it has nothing to learn from."""

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:
        """Give the conversation that asks for the next tactic at ``goal``.

        Must be the very text that ``rows`` trains on, so that proving and training agree.

        Args:
            goal: The state as Lean prints it, without marks.
            premises: Texts of retrieved premises; a formatter that has no place for them
                ignores them.
        """


@runtime_checkable
class RewardFunction(Protocol):
    """Scores completions; called as TRL calls a reward function.

    May be ``async``. May return a list, an array or a tensor of one number per completion;
    ``None`` or NaN means that the reward does not apply to that completion.
    """

    def __call__(self, completions: list[Any], **kwargs: Any) -> Any:
        """Score a batch.

        Args:
            completions: The generated texts, one per sample.
            **kwargs: Every column of the dataset as a list, one item per completion, and what
                TRL adds (``prompts``, ``completion_ids``, ``trainer_state``, …).
        """
