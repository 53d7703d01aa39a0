"""The callback ``best-tactics``."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

from lean_dojo_plugins.rewards.adapter import completion_texts


class BestTactics:
    """Prints the best-paid completion of a batch of ``grpo`` with its goal, on stderr.

    It shows what a policy is rewarded for: one line as often as the trainer logs
    (``trainer_args.logging_steps``), from the main process.
    """

    _due = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Start with the first batch."""
        self._due = state.global_step

    def on_rewards_scored(
        self,
        args: Any,
        state: Any,
        control: Any,  # noqa: ARG002 - transformers' signature
        *,
        inputs: Sequence[Mapping[str, Any]],
        completions: Sequence[Any],
        rewards: Any,
        reward_names: Sequence[str],
    ) -> None:
        """Print one line; ``rewards``: (completions, rewards), NaN where one does not apply."""
        if not state.is_world_process_zero or state.global_step < self._due or not completions:
            return
        self._due = state.global_step + max(1, state.logging_steps)
        weights = args.reward_weights or [1.0] * len(reward_names)
        # Those of all processes; the main process's come first.
        scores = rewards[: len(completions)]
        sums = (scores.nan_to_num() * scores.new_tensor(weights)).sum(1)
        best = int(sums.argmax())
        parts = ", ".join(
            f"{name} {score:.3g}" for name, score in zip(reward_names, scores[best], strict=True)
        )
        # A tactic works on the first goal of its state.
        first = str(inputs[best].get("problem", "")).split("\n\n")[0]
        goal = " ".join(first.rpartition("⊢")[2].split())
        text = completion_texts([completions[best]])[0].strip()
        tqdm.write(
            f"step {state.global_step}: reward {sums[best]:.3g} ({parts}) for {text!r:.200} at "
            f"⊢ {goal:.200}",
            file=sys.stderr,
        )
