"""The reward of whole proofs: Lean's full verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lean_dojo_plugins.rewards.lean_reward import LeanReward, Question
from lean_dojo_plugins.rewards.whole_proofs import judge_proofs, theorem_of
from lean_dojo_v2.fields import is_number, must_be, setting
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict

SHOWN = 500
"""Characters of an error shown to a model."""
AGAIN = "Write the whole proof again."


@attrs.define(eq=False, slots=False)
class ProofVerified(LeanReward):
    """1 for a completion whose proof passes full verification, else 0.

    A completion may hold the tactic block alone, the theorem with its proof, or text with fenced
    code, of which the last proof of the theorem counts; nothing inside ``<think>`` does. The
    theorem is elaborated again in its file's context, without itself in scope: an error, ``sorry``,
    a new axiom or a changed statement earns 0, and the reason is logged. A theorem that cannot be
    opened scores ``None``: the reward does not apply.

    With ``dense``, a proof that fails earns ``dense`` times the share of its lines that come before
    Lean's first error ("first failing tactic", arXiv:2606.20068); cheating earns nothing.

    Equal proofs of a theorem are verified once.
    """

    dense: float = setting(
        0.0,
        "Most that a failing proof may earn, by where its first error stands.",
        must_be("a number of at least 0 and less than 1", lambda v: is_number(v) and 0 <= v < 1),
    )
    name = "proof-verified"
    wanted = "a block of tactics"
    needs = ("problem", "full_name")
    formatter = "whole-proof"
    judge = staticmethod(judge_proofs)

    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        return theorem_of(row, self.projects), text

    def feedback(self, completions: Sequence[Any], **columns: Any) -> list[str | None]:
        """Return the feedback on each completion, for another turn of the model.

        That is Lean's first error, or the reason of a refusal; ``None`` if the proof holds or its
        theorem cannot be opened.
        """
        return [
            None
            if judgement.verdict in {Verdict.UNOPENED, Verdict.SOLVED}
            else f"Lean does not accept this proof:\n{judgement.detail[:SHOWN]}\n{AGAIN}"
            for judgement in self.judgements(completions, **columns)
        ]

    def score(self, judgement: TacticOutcome) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is Verdict.UNOPENED:
            return None
        return 1.0 if judgement.verdict is Verdict.SOLVED else self.dense * judgement.progress
