"""Requests of clients; a field that is not listed here is an error."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class StrictRequest(BaseModel):
    """Base class of all requests."""

    model_config = ConfigDict(extra="forbid")


class ProblemQuestion(StrictRequest):
    """Something to prove: a goal, or a theorem in miniF2F's format.

    Attributes:
        goal: The goal, an expression (``∀ n : Nat, n + 0 = n``).
        name: The theorem's name.
        formal_statement: The Lean text of the theorem, with or without ``:= by`` and ``sorry``.
        header: Text before it, such as ``import Mathlib`` and ``open Nat``.
    """

    goal: str | None = None
    name: str | None = None
    formal_statement: str | None = None
    header: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The problem as a dataset's row."""
        return self.model_dump(include=set(ProblemQuestion.model_fields))

    @property
    def owner(self) -> str | None:
        """The theorem's text, as the owner of the programs that an engine may have run."""
        if self.formal_statement is None:
            return None
        return f"{self.header or ''}\n{self.formal_statement}"

    @model_validator(mode="after")
    def _one_problem(self) -> Self:
        if (self.goal is None) == (self.formal_statement is None):
            raise ValueError("give either 'goal', or 'name' and 'formal_statement'")
        if self.formal_statement is not None and self.name is None:
            raise ValueError("'formal_statement' needs the theorem's 'name'")
        return self


class TacticQuestion(ProblemQuestion):
    """One tactic at a state.

    Attributes:
        tactics: Tactics that lead from the problem to the state; none for the problem itself. A
            goal may also be a state as Lean prints it.
        tactic: The tactic to judge; ``None`` to see the state alone.
        timeout: Seconds that Lean may take for each tactic.
    """

    tactics: list[str] = []
    tactic: str | None = None
    timeout: float = Field(10.0, gt=0)


class ProofQuestion(ProblemQuestion):
    """A whole proof.

    Attributes:
        proof: The proof, a tactic block.
        timeout: Seconds that Lean may take.
    """

    proof: str
    timeout: float = Field(60.0, gt=0)


class FileQuestion(StrictRequest):
    """A whole file.

    Attributes:
        text: The file.
        reference: A file that states what was to be proved, with ``sorry`` for every proof.
        timeout: Seconds that Lean may take.
    """

    text: str
    reference: str | None = None
    timeout: float = Field(60.0, gt=0)


class RewardQuestion(StrictRequest):
    """Completions to score.

    Attributes:
        reward: Name of an installed reward function.
        completions: The texts.
        columns: Further columns that the reward reads, of the same length.
    """

    reward: str
    completions: list[str]
    columns: dict[str, list[Any]] = {}

    @model_validator(mode="after")
    def _same_lengths(self) -> RewardQuestion:
        for name, column in self.columns.items():
            if len(column) != len(self.completions):
                raise ValueError(
                    f"the column {name!r} has {len(column)} items for "
                    f"{len(self.completions)} completions"
                )
        return self


class SuggestQuestion(StrictRequest):
    """Suggestions at a state.

    Attributes:
        goal: The goal.
        tactics: Tactics that lead from the goal to the state.
        samples: Tactics that are sampled at a state.
        timeout: Seconds that Lean may take for each of them.
    """

    goal: str
    tactics: list[str] = []
    samples: int = Field(16, ge=1, le=256)
    timeout: float = Field(10.0, gt=0)


class SearchQuestion(StrictRequest):
    """A proof search from a state; see :class:`SuggestQuestion`.

    Attributes:
        expansions: Maximum number of states expanded.
    """

    goal: str
    tactics: list[str] = []
    samples: int = Field(16, ge=1, le=256)
    expansions: int = Field(32, ge=1, le=10_000)


# --- Kimina Lean Server's dialect ----------------------------------------------------------------


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
    def _unique(self) -> KiminaCheck:
        if len({snippet.id for snippet in self.snippets}) < len(self.snippets):
            raise ValueError("snippets must have unique ids")
        return self
