"""``sorry`` and ``admit`` in the text of tactics."""

from __future__ import annotations

import pytest

from lean_dojo_core import contains_sorry


@pytest.mark.parametrize(
    "text",
    [
        "sorry",
        "(sorry)",
        "by sorry",
        "exact sorry",
        "exact ⟨_, sorry⟩",
        "all_goals sorry;simp",
        "· admit",
        "admit;skip",
        "x\n  sorry\n",
    ],
)
def test_sorry_and_admit_are_found(text: str) -> None:
    assert contains_sorry(text)


@pytest.mark.parametrize(
    "text",
    [
        "simp",
        "sorryAx",
        "not_sorry",
        "«sorry»",
        "exact sorry'",
        "simp [Foo.sorry]",
        "h.admit",
        "rw [admit_le]",
        "exact h.admits",
    ],
)
def test_names_that_only_contain_the_word(text: str) -> None:
    assert not contains_sorry(text)
