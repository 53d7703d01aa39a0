"""What the checks of tactics and proofs answer."""

from __future__ import annotations

from enum import StrEnum

import attrs

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.verify.screening import Reason, Refusal


class Verdict(StrEnum):
    """What Lean says of a tactic; the values appear in logs, metrics and answers.

    Attributes:
        SOLVED: It leaves no goal at all.
        ADVANCED: Lean has closed a whole proof through it, nearer to its end than before.
        UNPROVEN: Lean accepts it, but no proof through it is known that is nearer.
        FAILED: Lean does not accept it.
        UNPARSED: The text is not exactly one tactic.
        REFUSED: It cheats.
        TIMED_OUT: It took too long, or its engine died over it.
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
        verdict: What became of it.
        state: The state after it; ``None`` unless Lean accepted it.
        detail: What Lean said, or why it was refused.
        refusal: What was wrong with its text, for ``REFUSED`` and some of ``UNPARSED``.
        engine_died: For ``TIMED_OUT``: the engine died by itself; it may work on another one.
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
        """Whether Lean has closed a proof through it that is nearer to its end."""
        return self.verdict in {Verdict.SOLVED, Verdict.ADVANCED}


@attrs.frozen
class ProofOutcome:
    """The judgement of a whole proof.

    Attributes:
        valid: Whether Lean accepts the finished theorem, unchanged, with the usual axioms alone.
        detail: Why not.
        refusal: The trick, if that is why.
        axioms: Axioms that the finished theorem rests on.
        error_line: The line of the file, from 1, of Lean's first error in the proof.
    """

    valid: bool
    detail: str = ""
    refusal: Refusal | None = None
    axioms: tuple[str, ...] = ()
    error_line: int | None = None
