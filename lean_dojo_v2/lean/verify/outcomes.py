"""Outcomes of the checks of tactics and proofs."""

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


@attrs.frozen
class ProofPart:
    """A tactic of a proof: the characters from ``start`` to before ``end`` of the proof's text.

    ``changes`` says whether it changed the goals; ``skip`` does not.
    """

    start: int
    end: int
    changes: bool = True


@attrs.frozen
class ProofTrace:
    """The judgement of a whole proof, and where it is right and wrong.

    A tactic is a member of a tactic sequence; one that holds others (``have … := by``, ``·``) and
    those others are all listed. A text that is refused has none.

    Attributes:
        outcome: The judgement.
        sound: The tactics that ran without an error and begin before the first failing one, in the
            order of the text.
        failing: The innermost tactic with Lean's first error. For a text that is not a block of
            tactics, the line of the syntax error. ``None`` if there is neither.
        goals_left: Whether every tactic holds, and goals are left at the end.
    """

    outcome: ProofOutcome
    sound: tuple[ProofPart, ...] = ()
    failing: ProofPart | None = None
    goals_left: bool = False


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
        progress: Of a whole proof: how much of it holds, from 0 to 1.
        trace: Of a whole proof: where it is right and wrong.
    """

    verdict: Verdict
    state: GoalState | None = attrs.field(default=None, repr=False)
    detail: str = ""
    refusal: Refusal | None = None
    engine_died: bool = False
    fallback: str | None = None
    progress: float = 0.0
    trace: ProofTrace | None = attrs.field(default=None, repr=False)

    @property
    def reason(self) -> Reason | None:
        """Why it was refused."""
        return None if self.refusal is None else self.refusal.reason

    @property
    def advances(self) -> bool:
        """Whether it is ``SOLVED`` or ``ADVANCED``."""
        return self.verdict in {Verdict.SOLVED, Verdict.ADVANCED}
