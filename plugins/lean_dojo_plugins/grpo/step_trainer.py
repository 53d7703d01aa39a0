"""TRL's GRPO trainer, with tactics that end at their line and clocks on generation and rewards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch
from transformers import GenerationConfig
from trl.trainer import grpo_trainer as trl_grpo

from lean_dojo_plugins.grpo.finished import FinishedRows, watched
from lean_dojo_plugins.rewards.adapter import AdaptedReward


class StepTrainer(trl_grpo.GRPOTrainer):
    """One curriculum step's trainer.

    Logs ``time/generation`` and ``time/reward``: seconds per generation batch. Rewards that can use
    them get two hints: ``warm_up`` with the batch's columns before its completions are generated,
    and ``prefetch`` with completions as soon as they have ended, the last ones before any reward
    runs. Lean verification opens the states at the one and checks the tactics at the other.
    """

    _rows: Sequence[dict[str, Any]] = ()

    def end_completions_at(self, tokens: Sequence[int]) -> None:
        """End completions at any of these tokens, as at the end of the sequence."""
        self.eos_token_ids = list(tokens)
        self.generation_kwargs["eos_token_id"] = self.eos_token_ids
        self.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
            **self.generation_kwargs, disable_compile=True
        )

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        self._rows = inputs
        for reward in self._adapted():
            reward.warm_up(**_columns(inputs))
        return super()._generate_and_score_completions(inputs)

    def _generate(self, prompts: list[Any]) -> Any:
        start = time.perf_counter()
        result = super()._generate(prompts)
        self._clock("time/generation", start)
        return result

    def _generate_single_turn(self, prompt_ids: list[Any], *args: Any, **kwargs: Any) -> Any:
        early = [reward for reward in self._adapted() if reward.takes_hints]
        in_order = len(prompt_ids) == len(self._rows)
        generate: Any = super()._generate_single_turn
        if not early or not in_order or self.use_vllm or self.use_transformers_continuous_batching:
            return generate(prompt_ids, *args, **kwargs)

        def report(indices: Sequence[int], texts: Sequence[str]) -> None:
            columns = _columns([self._rows[index] for index in indices])
            completions = [[{"role": "assistant", "content": text}] for text in texts]
            for reward in early:
                reward.prefetch(completions, **columns)

        watcher = FinishedRows(self._tokenizer, self.eos_token_ids, report)
        with watched(self.accelerator.unwrap_model(self.model_wrapped), watcher):
            return generate(prompt_ids, *args, **kwargs)

    def _calculate_rewards(
        self,
        inputs: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids_list: list[list[int]],
    ) -> torch.Tensor:
        start = time.perf_counter()
        for reward in self._adapted():
            reward.prefetch(completions, **_columns(inputs))
        scores: torch.Tensor = super()._calculate_rewards(
            inputs, prompts, completions, completion_ids_list
        )
        self._clock("time/reward", start)
        return scores

    def _adapted(self) -> list[AdaptedReward]:
        return [reward for reward in self.reward_funcs if isinstance(reward, AdaptedReward)]

    def _clock(self, name: str, start: float) -> None:
        assert self.model is not None
        mode = "train" if self.model.training else "eval"
        self._metrics[mode][name].append(time.perf_counter() - start)


def _columns(inputs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in inputs] for key in inputs[0] if key != "prompt"}
