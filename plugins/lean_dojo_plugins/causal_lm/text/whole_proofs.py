"""Whole proofs: a statement in, a tactic block out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lean_dojo_core import Message, Row, Theorem, TracedTactic, contains_sorry, remove_marks
from lean_dojo_core.records import NO_GOALS
from lean_dojo_v2.prover.completions import whole_proof_prompt


def proof_text(theorem: Theorem) -> str | None:
    r"""Return the tactic block of a traced proof, or ``None`` if it is not known as a whole.

    Only the outermost tactics are written: those that stand inside others come with them. A proof
    whose places the trace does not say, or that gives up, has none.

    >>> steps = (
    ...     TracedTactic("intro n", "⊢ ∀ n, n = n", "n : Nat\n⊢ n = n", start=(1, 5), end=(1, 12)),
    ...     TracedTactic("rfl", "n : Nat\n⊢ n = n", "no goals", start=(2, 5), end=(2, 8)),
    ... )
    >>> proof_text(Theorem("t", "A.lean", (1, 1), (2, 8), "u", "c", traced_tactics=steps))
    'intro n\nrfl'
    """
    lines: list[str] = []
    end = (0, 0)
    for tactic in theorem.traced_tactics:
        if tactic.start is None or tactic.end is None or contains_sorry(tactic.tactic):
            return None
        if tactic.start < end:
            continue
        end = tactic.end
        first, *rest = remove_marks(tactic.tactic).rstrip().split("\n")
        indent = tactic.start[1] - 1
        lines += [first, *(line[min(indent, _indent(line)) :] for line in rest)]
    return "\n".join(lines) if lines and _is_finished(theorem.traced_tactics) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_finished(tactics: Sequence[TracedTactic]) -> bool:
    return any(tactic.state_after == NO_GOALS for tactic in tactics)


class WholeProof:
    """Rows of whole proofs: ``problem`` and ``prompt`` (the statement), ``completion`` (its proof).

    With the columns that say where the theorem stands, the reward ``proof-verified`` verifies a
    completion. A theorem without a known proof has no row for fine-tuning.
    """

    columns: tuple[str, ...] = (
        "problem", "prompt", "completion", "url", "commit", "file_path", "full_name", "start", "end"
    )  # fmt: skip
    whole_proof = True
    """Completions are whole proofs: they do not end with their first line."""

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row for a theorem with a statement and a proof by tactics."""
        proof = proof_text(theorem)
        if proof is None or not theorem.theorem_statement:
            return
        yield {
            "problem": theorem.theorem_statement,
            "prompt": self.prompt(theorem.theorem_statement),
            "completion": [{"role": "assistant", "content": proof}],
            "url": theorem.url,
            "commit": theorem.commit,
            "file_path": theorem.file_path,
            "full_name": theorem.full_name,
            "start": list(theorem.start),
            "end": list(theorem.end),
        }

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:  # noqa: ARG002
        """Ask for a proof of the statement ``goal``; premises have no place in this text."""
        return whole_proof_prompt(goal)
