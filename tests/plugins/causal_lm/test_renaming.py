"""Other names for the same step: it stays the same step, and Lean agrees."""

from __future__ import annotations

import random
import shutil

import pytest

from lean_dojo_core import Theorem, TracedTactic, registry
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.causal_lm.text.renaming import RenamedTacticChat, renamed
from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.sample import sample_database_path

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


def test_a_trainer_measures_with_each_tactic_once():
    trainer = SFTTrainer("owner/model", formatter="tactic-chat-renamed")
    assert isinstance(trainer.evaluation_formatter(), TacticChat)
    assert not isinstance(trainer.evaluation_formatter(), RenamedTacticChat)
    assert "tactic-chat-renamed" in registry.dataset_formatters


@pytest.mark.slow
def test_lean_verifies_renamed_steps_of_the_sample(tmp_path):
    file = tmp_path / "sample.json"
    shutil.copy(sample_database_path(), file)
    theorems = [
        theorem
        for theorem in DynamicDatabase(file).repositories[0].proven_theorems
        if theorem.file_path.endswith("Logic.lean") and theorem.traced_tactics
    ]
    rng = random.Random(0)
    steps = [
        (step.state_before, step.tactic)
        for theorem in rng.sample(theorems, 30)
        for step in theorem.traced_tactics
        if "\n" not in step.tactic and "\n\n" not in step.state_before
    ]
    pairs = [(step, other) for step in steps for other in renamed(step, 1, rng)]
    assert len(pairs) > 20
    reward = PantographVerified()
    try:
        before, after = (
            [
                judgement.verdict
                for judgement in reward.judgements(
                    [tactic for _, tactic in side], problem=[state for state, _ in side]
                )
            ]
            for side in zip(*pairs, strict=True)
        )
    finally:
        reward.close()
    # Lean says of a renamed step what it says of the original, and accepts both. From its text
    # alone a state has no traced proof, so a step is paid only where automation ends it.
    assert after == before
    accepted = {Verdict.SOLVED, Verdict.ADVANCED, Verdict.UNPROVEN}
    assert sum(verdict in accepted for verdict in before) >= 0.9 * len(pairs)
