"""Outcomes of the checks of tactics and proofs."""

from __future__ import annotations

from enum import StrEnum

import attrs

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.verify.screening import Reason, Refusal


class Verdict(StrEnum):
    """The verdict on a tactic; the values appear in logs, metrics and answers.

    Attributes:
        SOLVED: It leaves no goal at all.
        ADVANCED: Lean has finished a whole proof through it, and it is nearer to the end.
        UNPROVEN: Lean accepts it, but it makes no known progress.
        FAILED: Lean does not accept it.
        UNPARSED: The text is not exactly one tactic.
        REFUSED: It cheats.
        TIMED_OUT: It took too long, or killed its engine.
        UNOPENED: The state cannot be opened, so nothing is known of it.
    """

    SOLVED = "solved"
    ADVANCED = "advanced"
    UNPROVEN = "unproven"
    FAILED = "failed"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TIMED_OUT = "timed_out"
    UNOPENED = "unopened"


@attrs.frozen
class TacticOutcome:
    """The judgement of one tactic, or of a block of them, at one state.

    Attributes:
        verdict: The verdict.
        state: The state after it; ``None`` unless Lean accepted it.
        detail: Lean's message, or the reason of a refusal.
        refusal: The refusal of its text, for ``REFUSED`` and some of ``UNPARSED``.
        engine_died: For ``TIMED_OUT``: the engine died; the tactic may work on another one.
        fallback: Why the state is not known to be the very one that was traced.
        progress: Of a whole proof: the share of its lines before Lean's first error, from 0 to 1.
    """

    verdict: Verdict
    state: GoalState | None = attrs.field(default=None, repr=False)
    detail: str = ""
    refusal: Refusal | None = None
    engine_died: bool = False
    fallback: str | None = None
    progress: float = 0.0

    @property
    def reason(self) -> Reason | None:
        """Why it was refused."""
        return None if self.refusal is None else self.refusal.reason

    @property
    def advances(self) -> bool:
        """Whether it is ``SOLVED`` or ``ADVANCED``."""
        return self.verdict in {Verdict.SOLVED, Verdict.ADVANCED}


@attrs.frozen
class ProofOutcome:
    """The judgement of a whole proof.

    Attributes:
        valid: Whether Lean accepts the finished theorem, unchanged, with only the usual axioms.
        detail: Why not.
        refusal: The refusal, if it is one.
        axioms: Axioms that the finished theorem depends on.
        error_line: The line of the file, from 1, of Lean's first error in the proof.
    """

    valid: bool
    detail: str = ""
    refusal: Refusal | None = None
    axioms: tuple[str, ...] = ()
    error_line: int | None = None
