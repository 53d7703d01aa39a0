"""What becomes a row, and what it says."""

from __future__ import annotations

import pytest

from lean_dojo_core import Theorem, TracedTactic
from lean_dojo_plugins.causal_lm.text.formatters import SYSTEM, TacticChat, TacticPrompt


def theorem(*tactics: TracedTactic) -> Theorem:
    return Theorem("T.t", "T/A.lean", (1, 1), (3, 1), "u", "c", traced_tactics=tactics)


def test_chat_rows_hold_instruction_goal_and_tactic_without_marks():
    step = TracedTactic("rw [<a>foo</a>]  ", "h : <a>P</a>\n⊢ Q\n", "no goals")
    (row,) = TacticChat().rows(theorem(step))
    assert row["prompt"] == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "h : P\n⊢ Q"},
    ]
    assert row["completion"] == [{"role": "assistant", "content": "rw [foo]"}]


@pytest.mark.parametrize(
    "tactic",
    [
        TracedTactic("sorry", "⊢ P", "no goals"),
        TracedTactic("exact (by admit)", "⊢ P", "no goals"),
        TracedTactic("· rw [foo]\n  rfl", "⊢ P", "no goals"),
        TracedTactic("simp", "no goals", "no goals"),
        TracedTactic("", "⊢ P", "no goals"),
        TracedTactic("  ", "⊢ P", "no goals"),
        TracedTactic("simp", "", "no goals"),
    ],
)
def test_what_cannot_be_learned_is_skipped_not_cut(tactic):
    assert not list(TacticChat().rows(theorem(tactic)))
    assert not list(TacticPrompt().rows(theorem(tactic)))


def test_prompt_rows_say_how_to_get_to_their_state():
    rows = list(
        TacticPrompt().rows(
            theorem(
                TracedTactic("intro h", "⊢ P → Q", "⊢ Q"),
                TracedTactic("rw [a,\n b]", "⊢ Q", "⊢ R"),
                TracedTactic("exact <a>r</a>", "⊢ R", "no goals"),
            )
        )
    )
    assert [row["tactic_index"] for row in rows] == [0, 1, 2]
    assert rows[1]["tactic"] == "rw [a, b]"
    assert rows[2]["tactics_before"] == ["intro h", "rw [a,\n b]"]
    assert rows[2]["tactic"] == "exact r"
    assert rows[2]["problem"] == "⊢ R"
    assert all(tuple(row) == TacticPrompt.columns for row in rows)


def test_both_ask_with_the_text_of_training():
    (row,) = TacticChat().rows(theorem(TracedTactic("rfl", "⊢ 1 = 1", "no goals")))
    assert TacticChat().prompt("⊢ 1 = 1") == row["prompt"]
    assert TacticPrompt().prompt("⊢ 1 = 1", premises=["x"]) == row["prompt"]
