"""Requests of clients; a field that is not listed is an error, and ``timeout`` is in seconds."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lean_dojo_core.errors import UsageError

_NO_COLUMNS = frozenset({"completions", "trainer_state", "log_extra", "log_metric"})
"""Arguments that a reward gets in training besides the columns of its rows."""


class StrictRequest(BaseModel):
    """Base class of all requests."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Read a request; one that is not in its form is a UsageError that says where."""
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            raise UsageError(_where(error)) from error


def _where(error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False):
        place = ".".join(map(str, problem["loc"]))
        problems.append(f"{place}: {problem['msg']}" if place else problem["msg"])
    return "; ".join(problems)


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


class PlaygroundQuestion(StrictRequest):
    """A state, reached from a goal by tactics, and how many tactics to sample at each state."""

    goal: str
    tactics: list[str] = Field([])
    samples: int = Field(16, ge=1, le=256)


class SuggestQuestion(PlaygroundQuestion):
    """Suggestions at a state; ``timeout`` is per suggested tactic, in seconds."""

    timeout: float = Field(10.0, gt=0)


class SearchQuestion(PlaygroundQuestion):
    """A proof search from a state."""

    expansions: int = Field(32, ge=1, le=10_000)


class Snippet(StrictRequest):
    """A Lean text with an identifier."""

    id: str
    code: str


class KiminaCheck(StrictRequest):
    """``POST /api/check``; ``debug`` and ``reuse`` are accepted and change nothing."""

    snippets: list[Snippet] = Field(min_length=1)
    timeout: float = Field(30.0, ge=0)
    debug: bool = False
    reuse: bool = True
    infotree: None = None

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if len({snippet.id for snippet in self.snippets}) < len(self.snippets):
            raise ValueError("snippets must have unique ids")
        return self
