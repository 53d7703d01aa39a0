"""Whole proofs: a statement in, a tactic block out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from lean_dojo_core import Message, Row, Theorem, TracedTactic, contains_sorry, remove_marks
from lean_dojo_core.records import NO_GOALS
from lean_dojo_plugins.training.data import PLACE, place_of
from lean_dojo_v2.prover.completions import whole_proof_prompt


def proof_text(theorem: Theorem) -> str | None:
    r"""Return the tactic block of a traced proof, or ``None`` if it is incomplete.

    A nested tactic is part of the outer one: the next tactic of the block is the first that begins
    at the state that the last one left. Exported data has no positions, so the lines of a tactic
    after its first are indented by two columns. A proof that is one step from the statement was
    written in one go, and is returned unchanged.

    >>> steps = (
    ...     TracedTactic("constructor", "⊢ p ∧ q", "⊢ p\n\n⊢ q"),
    ...     TracedTactic("all_goals\n      simp", "⊢ p\n\n⊢ q", "no goals"),
    ...     TracedTactic("simp", "⊢ p", "no goals"),
    ... )
    >>> proof_text(Theorem("t", "A.lean", (1, 1), (2, 8), "u", "c", traced_tactics=steps))
    'constructor\nall_goals\n  simp'
    """
    match theorem.traced_tactics:
        case (TracedTactic(state_before=theorem.theorem_statement, tactic=whole),):
            return None if contains_sorry(whole) else whole
    lines: list[str] = []
    last, reached = "", None
    for tactic in theorem.traced_tactics:
        text = remove_marks(tactic.tactic).rstrip()
        if reached in {None, tactic.state_before} and reached != NO_GOALS:
            if contains_sorry(text):
                return None
            lines += _laid_out(text)
            last, reached = text, tactic.state_after
        elif reached == NO_GOALS and text.partition("\n")[0] not in last:
            return None  # a second block: the theorem has alternatives
    return "\n".join(lines) if reached == NO_GOALS else None


def _laid_out(tactic: str) -> list[str]:
    first, _, rest = tactic.partition("\n")
    if not rest:
        return [first]
    others = textwrap.dedent(rest)
    return [first, *(others if others == rest else textwrap.indent(others, "  ")).split("\n")]


class WholeProof:
    """Rows of whole proofs: ``problem`` and ``prompt`` (the statement), ``completion`` (its proof).

    With the columns that locate the theorem, the reward ``proof-verified`` can verify a
    completion. A theorem without a known proof has no row for fine-tuning.
    """

    columns: tuple[str, ...] = ("problem", "prompt", "completion", *PLACE)
    whole_proof = True
    """Completions are whole proofs, of several lines."""

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row for a theorem with a statement and a proof by tactics."""
        proof = proof_text(theorem)
        statement = theorem.theorem_statement or ""
        if proof is None or not statement.rstrip().endswith(":="):  # else it has alternatives
            return
        yield {
            "problem": statement,
            "prompt": self.prompt(statement),
            "completion": [{"role": "assistant", "content": proof}],
            **place_of(theorem),
        }

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:  # noqa: ARG002
        """Ask for a proof of the statement ``goal``; premises are not used."""
        return whole_proof_prompt(goal)
