"""What the checks of tactics and proofs answer."""

from __future__ import annotations

from enum import StrEnum

import attrs

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.verify.screening import Refusal


class Verdict(StrEnum):
    """What became of a tactic; the values appear in logs and reports."""

    SOLVED = "solved"
    ADVANCED = "advanced"
    NO_ADVANCE = "no-advance"
    FAILED = "failed"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TIMED_OUT = "timed-out"
    ENGINE_DIED = "engine-died"


@attrs.frozen
class TacticOutcome:
    """The judgement of one tactic at one state.

    Attributes:
        verdict: What became of it.
        state: The state after it; ``None`` unless Lean accepted it.
        detail: What Lean said, or why it was refused.
        refusal: The refusal, for ``REFUSED``.
    """

    verdict: Verdict
    state: GoalState | None = attrs.field(default=None, repr=False)
    detail: str = ""
    refusal: Refusal | None = None

    @property
    def advances(self) -> bool:
        """Whether the tactic compiled and brought the proof nearer to its end."""
        return self.verdict in {Verdict.SOLVED, Verdict.ADVANCED}


@attrs.frozen
class ProofOutcome:
    """The judgement of a whole proof.

    Attributes:
        valid: Whether Lean accepts the finished theorem, unchanged, with the usual axioms alone.
        detail: Why not.
        refusal: The trick, if that is why.
        axioms: Axioms that the finished theorem rests on.
    """

    valid: bool
    detail: str = ""
    refusal: Refusal | None = None
    axioms: tuple[str, ...] = ()
