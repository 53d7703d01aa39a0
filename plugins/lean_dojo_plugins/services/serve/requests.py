"""Requests of clients; a field that is not listed is an error, and ``timeout`` is in seconds."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_NO_COLUMNS = frozenset({"completions", "trainer_state", "log_extra", "log_metric"})
"""Arguments that a reward gets in training besides the columns of its rows."""


class StrictRequest(BaseModel):
    """Base class of all requests."""

    model_config = ConfigDict(extra="forbid")


class ProblemQuestion(StrictRequest):
    """Something to prove: a goal, or a theorem in miniF2F's format, with the text before it."""

    goal: str | None = None
    name: str | None = None
    formal_statement: str | None = None
    header: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The problem as a dataset's row."""
        return self.model_dump(include=set(ProblemQuestion.model_fields))

    @property
    def owner(self) -> str:
        """The problem's text: clients with another problem get an engine that has not seen it."""
        return self.goal or f"{self.header or ''}\n{self.formal_statement}"

    @model_validator(mode="after")
    def _one_problem(self) -> Self:
        if (self.goal is None) == (self.formal_statement is None):
            raise ValueError("give either 'goal', or 'name' and 'formal_statement'")
        if self.formal_statement is not None and self.name is None:
            raise ValueError("'formal_statement' needs the theorem's 'name'")
        return self


class TacticQuestion(ProblemQuestion):
    """One tactic at a state that others lead to; without one, the state is shown."""

    tactics: list[str] = []
    tactic: str | None = None
    timeout: float = Field(10.0, gt=0)


class ProofQuestion(ProblemQuestion):
    """A whole proof, a block of tactics."""

    proof: str
    timeout: float = Field(60.0, gt=0)


class FileQuestion(StrictRequest):
    """A whole file; a ``reference`` states what is to be proved, with ``sorry`` for each proof."""

    text: str
    reference: str | None = None
    timeout: float = Field(60.0, gt=0)


class RewardQuestion(StrictRequest):
    """Completions to score by an installed reward, with the columns that it reads."""

    reward: str
    completions: list[str]
    columns: dict[str, list[Any]] = {}

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        for name, column in self.columns.items():
            if name in _NO_COLUMNS:
                raise ValueError(f"{name!r} is not a column")
            if len(column) != len(self.completions):
                raise ValueError(
                    f"the column {name!r} has {len(column)} items for "
                    f"{len(self.completions)} completions"
                )
        return self
