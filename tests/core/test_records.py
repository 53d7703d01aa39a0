"""What records say about tactics as text."""

from __future__ import annotations

import pytest

from lean_dojo_core import Evaluation, contains_sorry
from lean_dojo_core.testing import SAMPLE_THEOREMS


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
def test_tactics_that_give_up(text: str) -> None:
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


def test_records_are_tables_in_a_notebook() -> None:
    theorem = SAMPLE_THEOREMS[0]
    html = theorem._repr_html_()
    assert html.count("<tr>") == 1 + len(theorem.traced_tactics)
    assert theorem.full_name in html
    assert "<a>" not in html  # marks are no links
    shown = Evaluation(metrics={"a<b": 0.4567}, examples=3, model="m")._repr_html_()
    assert "m: 3 examples of val" in shown
    assert "a&lt;b</td>" in shown
    assert "0.4567" in shown
