"""Sizes of the demo; `--quick` uses smaller ones."""

from __future__ import annotations

from typing import Self

import attrs


@attrs.frozen(kw_only=True)
class DemoSettings:
    """Sizes of the demo.

    Attributes:
        theorems: Held-out theorems that every prover tries, chosen by a hash of their names.
        lean_calls: Lean calls that a prover may spend on each of them.
        samples: Tactics sampled per state.
        expansions: Maximum number of states expanded per problem in self-training.
        visits: How often a state may be expanded in self-training.
        human_share: Share of the training theorems whose human proofs are learned.
        problems: Statements to search in self-training.
        steps: Optimiser steps of each training.
        batch: Examples per step.
        lr: Peak learning rate.
        engines: Lean engines.
        seed: Seed of everything.
    """

    theorems: int = 60
    lean_calls: int = 32
    samples: int = 8
    expansions: int = 6
    visits: int = 2
    human_share: float = 0.5
    problems: int = 80
    steps: int = 80
    batch: int = 16
    lr: float = 2e-3
    engines: int = 2
    seed: int = 0

    @classmethod
    def quick(cls) -> Self:
        """Return sizes that run every stage in two minutes, with little gain."""
        return cls(theorems=12, lean_calls=32, expansions=4, problems=20, steps=20, engines=1)
