"""What the demo does, in numbers; `--quick` is the same story with smaller ones."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import attrs


@attrs.frozen(kw_only=True)
class DemoSettings:
    """Sizes of the demo.

    Attributes:
        output_dir: Where everything goes.
        hidden_size: Width of the model.
        layers: Its transformer blocks.
        sft_steps: Optimiser steps of supervised fine-tuning at each of the two repositories.
        sft_batch: Examples per step.
        sft_lr: Peak learning rate.
        grpo_steps: Optimiser steps of reinforcement; 0 leaves it out.
        progress_epochs: Passes of the progress model; 0 leaves it out.
        samples: Tactics sampled per state.
        expansions: States expanded per theorem at most.
        visits: How often a state may be expanded.
        theorems: Held-out theorems to prove at most, by a stable choice; ``None`` for all.
        engines: Lean engines.
        seed: Seed of everything.
    """

    output_dir: Path
    hidden_size: int = 256
    layers: int = 4
    sft_steps: int = 500
    sft_batch: int = 16
    sft_lr: float = 1.5e-3
    grpo_steps: int = 12
    progress_epochs: float = 4
    samples: int = 16
    expansions: int = 12
    visits: int = 4
    theorems: int | None = 25
    engines: int = 2
    seed: int = 0

    @classmethod
    def quick(cls, output_dir: Path) -> Self:
        """Give sizes that show every stage in a few minutes, with a smaller gain."""
        return cls(
            output_dir=output_dir,
            sft_steps=250,
            grpo_steps=2,
            progress_epochs=1,
            samples=8,
            expansions=4,
            theorems=12,
            engines=1,
        )
