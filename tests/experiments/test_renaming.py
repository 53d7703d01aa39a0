"""Other names for the same step: it stays the same step."""

from __future__ import annotations

import random

import pytest

from lean_dojo_core import Theorem, TracedTactic
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from plugin_files.renaming import RenamedTacticChat, renamed

STATE = "p q : Prop\nn m : Nat\nhpq : p → q\nhp : p\n⊢ q"


def variants(state: str, tactic: str, copies: int = 40) -> list[tuple[str, str]]:
    return list(renamed((state, tactic), copies, random.Random(0)))


def test_names_change_places_within_their_type_and_hypotheses_follow():
    found = variants(STATE, "exact hpq hp")
    assert ("q p : Prop\nn m : Nat\nhqp : q → p\nhq : q\n⊢ p", "exact hqp hq") in found
    assert ("p q : Prop\nm n : Nat\nhpq : p → q\nhp : p\n⊢ q", "exact hpq hp") in found
    assert any("r" in state.split(" : ")[0] for state, _ in found)  # a proposition's new name
    assert len(set(found)) == len(found)
    assert (STATE, "exact hpq hp") not in found
    for state, tactic in found:
        variables = state.replace("\n", " : ").split(" : ")
        assert len({*variables[0].split(), *variables[2].split()}) == 4  # no two become one
        name = variables[4]
        assert tactic == f"exact {name} h{name[1]}"


@pytest.mark.parametrize(
    ("state", "tactic"),
    [
        ("⊢ 1 = 1", "rfl"),
        ("n : Nat\n⊢ n = n", "rfl"),  # one number alone has no other name to take
        ("xs : List Nat\n⊢ xs = xs", "rfl"),
        ("x : Nat\n⊢ x = x\n\nx : Int\n⊢ x = x", "rfl"),  # two variables of one name
    ],
)
def test_what_has_no_other_spelling_stays_alone(state, tactic):
    assert variants(state, tactic) == []


def test_parts_of_names_and_fields_stay():
    (state, tactic), *_ = variants("a b : Nat\nh : a.b = b\n⊢ sum a b", "exact b.a ▸ ab_b h", 1)
    assert state == "b a : Nat\nh : b.b = a\n⊢ sum b a"
    assert tactic == "exact a.a ▸ ab_b h"


def test_two_names_never_become_one():
    for state, tactic in variants("p q : Prop\nhp : p\nhs : 1 = 1\n⊢ p", "exact hp"):
        first, second = state.split("\n")[1:3]
        assert first.split(" : ")[0] != second.split(" : ")[0] == "hs"
        assert tactic == f"exact {first.split(' : ')[0]}"


def test_keywords_and_named_arguments_stay():
    for state, tactic in variants("a v e : Nat\nha : a = v\n⊢ e = e", "have := foo (a := v) ha"):
        name = state.split("\n")[1].split(" ")[0]
        assert tactic.startswith("have := foo (a := ")
        assert tactic.endswith(f" {name}")


def test_rows_hold_the_original_first_and_are_the_same_every_time():
    step = TracedTactic("exact <a>hpq</a> hp", STATE, "no goals")
    theorem = Theorem("T.t", "T/A.lean", (1, 1), (3, 1), "u", "c", traced_tactics=(step,))
    rows = list(RenamedTacticChat().rows(theorem))
    assert rows[:1] == list(TacticChat().rows(theorem))
    assert len(rows) == 1 + RenamedTacticChat.copies
    assert rows == list(RenamedTacticChat().rows(theorem))
