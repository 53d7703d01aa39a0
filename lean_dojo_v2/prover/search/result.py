"""The result of a proof search."""

from enum import StrEnum
from typing import Any

import attrs

from lean_dojo_core.wording import counted
from lean_dojo_v2.prover.search.tree import SearchTree


class Failure(StrEnum):
    """Why no proof was found."""

    TIMED_OUT = "timed-out"
    EXPANSIONS = "expansion-limit"
    LEAN_CALLS = "lean-call-limit"
    EXHAUSTED = "no-states-left"
    CANNOT_OPEN = "cannot-open"
    ENGINE = "engine-failed"
    GENERATOR = "generator-failed"
    REFUSED = "proof-refused"
    UNFINISHED = "theorem-unfinished"


@attrs.frozen
class SearchResult:
    """The outcome of one search.

    Attributes:
        name: The theorem or goal.
        success: Whether a proof was found *and* passed full verification.
        tactics: The proof's tactics; ``None`` without one.
        proof: Text of the tactic block; ``None`` without one.
        reason: Why not, for a failure.
        detail: One sentence about it.
        expansions: States whose tactics were generated.
        samples: Tactics suggested for them, or whole proofs sampled.
        lean_calls: Requests to Lean: opening the statement, each tactic tried, each comparison of a
            reached state with those seen before, each check of a finished proof. Requests repeated
            for a lost engine or state are not counted, so a busy machine counts the same.
        refused_proofs: Finished proofs that full verification refused.
        ended_by_clock: How often a limit in seconds was hit: for a tactic, the check of a proof,
            the search. Above 0, a faster machine may give another result.
        seconds: Time for trying its tactics, and its share of the time for generating them, without
            waiting for other theorems of the batch.
        tree: The states reached.
    """

    name: str
    success: bool
    tactics: tuple[str, ...] | None = None
    proof: str | None = None
    reason: Failure | None = None
    detail: str = ""
    expansions: int = 0
    samples: int = 0
    lean_calls: int = 0
    refused_proofs: int = 0
    ended_by_clock: int = 0
    seconds: float = 0.0
    tree: SearchTree | None = attrs.field(default=None, repr=False)

    def __str__(self) -> str:
        """Return the outcome in one line."""
        cost = (
            f"{counted(self.expansions, 'expansion', 'expansions')}, "
            f"{counted(self.lean_calls, 'Lean call', 'Lean calls')}, {self.seconds:.1f} s"
        )
        if self.success:
            return f"{self.name}: proved ({cost})"
        why = ": ".join(part for part in (self.reason, self.detail) if part)
        return f"{self.name}: no proof ({why}; {cost})"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, without the tree."""
        data = attrs.asdict(self, filter=lambda attribute, _: attribute.name != "tree")
        data["reason"] = None if self.reason is None else str(self.reason)
        return data
