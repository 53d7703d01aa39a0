"""The prompts: one text for training and proving, as chat messages.

Both formatters of tactics use the same conversation, so a model trained by SFT or GRPO is prompted
at proof time with exactly the text that it has learned from.
"""

import textwrap
from collections.abc import Iterator, Sequence

from lean_dojo_core import Message, Row, Theorem, TracedTactic, contains_sorry, remove_marks
from lean_dojo_core.records import NO_GOALS
from lean_dojo_plugins.training import PLACE_COLUMNS, place_of
from lean_dojo_v2.data import one_line
from lean_dojo_v2.prover import whole_proof_prompt

SYSTEM = (
    "You are a Lean 4 tactic generator. Given a goal state, output exactly ONE Lean tactic that "
    "advances or solves the goal.\n"
    "Rules:\n"
    "- Output only the tactic text; no prose, quotes or code fences.\n"
    "- A single line only; no `by` blocks.\n"
    "- Never use `sorry` or `admit`."
)
"""The instruction that every prompt starts with."""


def label_of(tactic: TracedTactic) -> str | None:
    """Return the text to learn for one traced tactic, or ``None`` if there is none.

    A tactic of several lines is learned as the line that leads to the same goals
    (``induction n with | zero => ?_ | succ n ih => ?_``, see
    :func:`lean_dojo_v2.data.lines.one_line`). Skipped are those without such a line, bullets
    for example, and tactics that give up.

    >>> label_of(TracedTactic("rw [<a>Nat.add_comm</a>]", "⊢ a + b = b + a", "no goals"))
    'rw [Nat.add_comm]'
    """
    text = one_line(remove_marks(tactic.tactic).strip())
    goal = goal_of(tactic)
    if not text or "\r" in text or contains_sorry(text) or not goal or goal == NO_GOALS:
        return None
    return text


def goal_of(tactic: TracedTactic) -> str:
    """Return the state before a tactic as the prompt shows it: without marks."""
    return remove_marks(tactic.state_before).strip()


def ask(goal: str) -> list[Message]:
    """Return the conversation that asks for the next tactic at ``goal``."""
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": remove_marks(goal).strip()},
    ]


class TacticChat:
    """Rows for supervised fine-tuning: ``prompt`` (instruction and goal), ``completion`` (tactic).

    >>> step = TracedTactic("rfl", "⊢ 1 = 1", "no goals")
    >>> theorem = Theorem("one", "A.lean", (1, 1), (1, 20), "u", "c", traced_tactics=(step,))
    >>> [row["completion"] for row in TacticChat().rows(theorem)]
    [[{'role': 'assistant', 'content': 'rfl'}]]
    """

    columns: tuple[str, ...] = ("prompt", "completion")

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row per tactic that can be learned."""
        for tactic in theorem.traced_tactics:
            label = label_of(tactic)
            if label is not None:
                yield {
                    "prompt": self.prompt(goal_of(tactic)),
                    "completion": [{"role": "assistant", "content": label}],
                }

    def prompt(self, goal: str, *, premises: Sequence[str] = ()) -> list[Message]:  # noqa: ARG002
        """Ask for the next tactic at ``goal``; premises are not used."""
        return ask(goal)


class TacticPrompt(TacticChat):
    """Rows for reinforcement learning: a prompt, and the data to replay its state exactly.

    Columns: ``problem`` (the goal as text), ``prompt`` (the conversation), ``url``, ``commit``,
    ``file_path``, ``full_name``, ``start`` and ``end`` (of the theorem), ``position`` (of the
    tactic, ``[line, column]``, or ``None`` if not recorded), ``digest`` (of its first
    goal, :attr:`lean_dojo_core.TracedTactic.digest`), ``tactic_index``
    (0-based), ``tactics_before`` (every traced tactic before it, in order) and ``tactic`` (the one
    that the human proof uses). A proof outside a theorem gives no row, since no reward
    can judge it.
    """

    columns: tuple[str, ...] = (
        "problem", "prompt", *PLACE_COLUMNS,
        "position", "digest", "tactic_index", "tactics_before", "tactic",
    )  # fmt: skip

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row per state at which the human proof has a learnable tactic."""
        played: list[str] = []
        for index, tactic in enumerate(theorem.traced_tactics if theorem.is_problem else ()):
            label = label_of(tactic)
            if label is not None:
                goal = goal_of(tactic)
                yield {
                    "problem": goal,
                    "prompt": self.prompt(goal),
                    **place_of(theorem),
                    "position": list(tactic.start) if tactic.start else None,
                    "digest": tactic.digest,
                    "tactic_index": index,
                    "tactics_before": list(played),
                    "tactic": label,
                }
            played.append(remove_marks(tactic.tactic))


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

    columns: tuple[str, ...] = ("problem", "prompt", "completion", *PLACE_COLUMNS)
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
