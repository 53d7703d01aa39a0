"""The plugin's own tests: the conformance checks, and what each object promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from lean_dojo_example.novelty import Novelty
from lean_dojo_example.rejection_sampling import RejectionSampling

from lean_dojo_core import registry
from lean_dojo_core.testing import (
    SAMPLE_THEOREMS,
    DatasetFormatterSuite,
    ManifestSuite,
    RewardFunctionSuite,
    TrainerSuite,
)


class TestManifest(ManifestSuite):
    distribution = "lean-dojo-example"


class TestNovelty(RewardFunctionSuite):
    name = "novelty"


class TestFocusedGoal(DatasetFormatterSuite):
    name = "focused-goal"


class TestRejectionSampling(TrainerSuite):
    name = "rejection-sampling"

    def make_in(self, output_dir: Path) -> RejectionSampling:
        return RejectionSampling(model_name="owner/model", output_dir=str(output_dir))


def test_a_bonus_shrinks_with_every_repetition() -> None:
    novelty = Novelty(scale=2)
    assert novelty(["simp", "simp"]) == [2.0, pytest.approx(2 / 2**0.5)]
    assert novelty(["  simp "]) == [pytest.approx(2 / 3**0.5)]
    assert novelty(["rfl"]) == [2.0]


def test_heads_are_counted_instead() -> None:
    assert Novelty(by_head=True)(["rw [a]", "rw [b]"])[1] < 1
    assert Novelty()(["rw [a]", "rw [b]"]) == [1.0, 1.0]


def test_only_the_first_goal_is_asked_about() -> None:
    rows = list(registry.dataset_formatters["focused-goal"].create().rows(SAMPLE_THEOREMS[1]))
    assert [row["completion"][0]["content"] for row in rows] == [
        "constructor",
        "exact h.2",
        "exact h.1",
    ]
    assert "case right" not in rows[1]["prompt"][-1]["content"]


def test_only_what_is_paid_for_is_kept() -> None:
    from lean_dojo_plugins.rewards.resolve import resolve_rewards

    trainer = RejectionSampling(model_name="owner/model")
    (verifier,) = resolve_rewards("length-penalised")
    row = {"prompt": [], "problem": "⊢ p", "tactic": "exact h"}
    tried = [(row, "simp"), (row, "sorry"), (row, "x" * 300)]
    assert [tactic for _, tactic in trainer.verified(tried, verifier)] == ["simp"]
    assert list(trainer.verified([], verifier)) == []
