"""The prover on a causal language model that SFT or GRPO trained.

torch is imported when a prover is made, not with its class: an engine may start meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2 import prover
from lean_dojo_v2.lean import TacticWords
from lean_dojo_v2.lean_agent import ProverConfig

if TYPE_CHECKING:
    from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator

WHOLE_PROOF_TOKENS = 512
"""Longest proof that is written in one go."""


class HFProver(prover.BaseProver):
    """Proves with a model that ``SFTTrainer`` or ``GRPOTrainer`` saved.

    The prompt is the training prompt: the same formatter, the same chat template. A goal that is
    longer than the training's ``max_length`` is shortened as there.

    Args:
        ckpt_path: The trainer's ``output_dir``, or any causal language model.
        use_lora: Whether it must be a LoRA adapter, which is loaded onto its base model.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        endpoint: Base address of an OpenAI-compatible server that serves this very model, such as
            ``http://localhost:8000/v1``; then only tokenizer and configuration are loaded here.
        served_name: The model's name on that server, if it serves several.
        config: Limits of the search.
        formatter: Dataset formatter that the model was trained with; by default the one
            recorded beside the model, else ``tactic-chat``. Another one gives a warning.
        temperature: Sampling temperature, unless ``config`` names one.
        max_new_tokens: Longest tactic, in tokens; at most half of ``max_length``.
        seed: Seed of the sampling, in place of ``config``'s.
        max_length: Longest prompt and tactic together, in tokens; by default the training's,
            recorded beside the model; else 2048.
        automation: Also try, at every state, the tactics with which Lean's own automation closes
            goals: ``rfl``, ``simp_all``, ``omega``, ``decide``, ``grind``. They are tried in
            addition to the samples.
        max_proof_tokens: Longest proof that is written in one go, in tokens; at most half of
            ``max_length``.

    Raises:
        UsageError: If there is no model at that path, no server at ``endpoint``, or ``config``
            asks for vLLM.
        CheckpointError: If ``use_lora`` is set and it is not an adapter.
    """

    def __init__(
        self,
        ckpt_path: str | Path,
        use_lora: bool = False,
        device: str = "auto",
        *,
        config: ProverConfig | None = None,
        formatter: str | None = None,
        temperature: float = 1.0,
        max_new_tokens: int = 128,
        seed: int | None = None,
        max_length: int | None = None,
        automation: bool = False,
        max_proof_tokens: int = WHOLE_PROOF_TOKENS,
        endpoint: str | None = None,
        served_name: str | None = None,
    ) -> None:
        super().__init__(config)
        if seed is not None:
            self.settings = attrs.evolve(self.settings, seed=seed)
        if config is not None and config.temperature is not None:
            temperature = config.temperature
        self.tactics: CausalTacticGenerator
        if endpoint is None:
            from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator

            self.tactics = CausalTacticGenerator(
                ckpt_path, use_lora, device, formatter, max_length=max_length
            )
        else:
            from lean_dojo_plugins.causal_lm.generate.served import ServedTacticGenerator

            self.tactics = ServedTacticGenerator(
                ckpt_path,
                endpoint,
                use_lora,
                formatter,
                max_length=max_length,
                served_name=served_name,
            )
        self._temperature, self._proof_tokens = temperature, max_proof_tokens
        self._sampler = Sampler(
            self.tactics,
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            seed=self.settings.seed,
            beside=prover.CLOSING_TACTICS if automation else (),
        )

    @property
    def generator(self) -> Sampler:
        """The generator of tactics."""
        return self._sampler

    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Write a complete proof; see :meth:`BaseProver.generate_whole_proof`."""
        return write_proof(self.tactics, theorem, self._proof_tokens)

    def write_proofs(self, theorems: Sequence[Theorem | str], seeds: Sequence[int]) -> list[str]:
        """Sample complete proofs together; see :meth:`BaseProver.write_proofs`."""
        return self.tactics.write_proofs(
            [prover.statement_of(one) for one in theorems],
            self._temperature,
            max_new_tokens=self.tactics.longest_answer(self._proof_tokens),
            seeds=seeds,
        )


def write_proof(
    tactics: CausalTacticGenerator, theorem: Theorem | str, longest: int = WHOLE_PROOF_TOKENS
) -> str:
    """Generate a complete proof greedily."""
    longest = tactics.longest_answer(longest)
    [text] = tactics.write_proofs([prover.statement_of(theorem)], max_new_tokens=longest)
    return prover.unfenced(text, prover.name_of(theorem))


@attrs.define(eq=False)
class Sampler:
    """Adapts a tactic generator to the search: samples as records, ``beside`` added at every state.

    ``seed`` is that of the first batch without seeds; later ones continue its sequence.
    """

    tactics: CausalTacticGenerator
    temperature: float = 1.0
    max_new_tokens: int = 128
    seed: int = 0
    beside: Sequence[prover.Suggestion] = ()

    def generate(
        self,
        goals: Sequence[str],
        *,
        num_samples: int,
        premises: Sequence[Sequence[str]] = (),
        seeds: Sequence[int] = (),
        words: Sequence[TacticWords | None] = (),
    ) -> list[list[prover.Suggestion]]:
        """Sample tactics; see :class:`lean_dojo_v2.prover.suggestion.TacticGenerator`."""
        self.seed += 1
        found = self.tactics.generate(
            goals,
            num_samples,
            self.temperature,
            max_new_tokens=self.tactics.longest_answer(self.max_new_tokens),
            premises=premises or None,
            seed=self.seed,
            seeds=seeds,
            words=words,
        )
        # Batching changes the last digits; round, so that equal probabilities stay equal.
        return [
            [*(prover.Suggestion(text, round(score, 4)) for text, score in each), *self.beside]
            for each in found
        ]
