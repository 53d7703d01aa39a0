"""Plays scripted episodes and learns from them; under ``torchrun``, by orders in a JSON file.

Every process notes each batch in ``batches-RANK.jsonl``.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from trl.generation.vllm_generation import VLLMGeneration

from lean_dojo_plugins.causal_lm.model.label_head import restore_forward
from lean_dojo_plugins.grpo.episode_trainer import EpisodeTrainer
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_v2.database import DynamicDatabase

PLAYED = {
    "⊢ q ∧ p": ["constructor", "exact h", "exact ⟨h.2, h.1⟩", "exact ⟨hq, hp⟩"],
    "⊢ a = c": ["rw [hab]"],
    "⊢ b = c": ["exact hbc", "exact hab"],
    "⊢ p ∨ q": ["left"],
    "⊢ p": ["exact hp", "exact h.1"],
    "⊢ q": ["exact h.2"],
    "⊢ a = b": ["exact h"],
}


def answers() -> Callable[[str], str]:
    """Answer each state with its tactics in turn."""
    turns = {key: itertools.cycle(tactics) for key, tactics in PLAYED.items()}

    def answer(state: str) -> str:
        target = re.search(r"⊢ [^\n<]*|$", state).group()
        return next(turns[target]) if target in turns else "skip"

    return answer


def scripted(answer: Callable[[str], str]) -> Any:
    """Generate what the script answers, in place of the model."""

    def generate(self, prompts, images, fields, count):
        states = self._tokenizer.batch_decode(prompts)
        texts = [answer(state) for state in states]
        ids = self._tokenizer(texts, add_special_tokens=False)["input_ids"]
        return [[*one, self._tokenizer.eos_token_id] for one in ids], None

    return generate


class Client:
    """A stand-in for TRL's client of its server of vLLM, which one process asks for all."""

    def __init__(self, generation: Any, folder: Path) -> None:
        self.tokenizer, self.model = generation.processing_class, generation.model
        self.folder, self.pushed = folder, []
        self.answer = answers()

    def get_server_info(self) -> Any:
        return {"model_config": {"logprobs_mode": "processed_logprobs"}}

    def update_named_params(self, metadata: Any, params: Any) -> None:
        weights = [param.double().sum().item() for _, param in params]
        assert len(weights) == len(metadata)
        self.pushed.append(sum(weights))
        (self.folder / "pushed.json").write_text(json.dumps(self.pushed))

    def reset_prefix_cache(self) -> None:
        pass

    def generate(self, prompts: Any, n: int, generation_kwargs: Any, **_: Any) -> Any:
        assert n == 1
        ends = generation_kwargs["stop_token_ids"]
        newline = next(one for one in ends if self.tokenizer.decode([one]) == "\n")
        texts = [self.answer(state) for state in self.tokenizer.batch_decode(prompts)]
        ids = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        written = [[*one, newline] for one in ids]
        logprobs = [self.logprobs(*one) for one in zip(prompts, written, strict=True)]
        return {"prompt_ids": prompts, "completion_ids": written, "logprobs": logprobs}

    @torch.inference_mode()
    def logprobs(self, prompt: list[int], written: list[int]) -> list[list[float]]:
        """Compute what a server tells of each token, with the weights as they are."""
        model = deepcopy(self.model)
        restore_forward(model)
        logits = model.eval()(input_ids=torch.tensor([prompt + written])).logits[0].float()
        known = logits.log_softmax(-1)[len(prompt) - 1 : -1].gather(
            1, torch.tensor(written)[:, None]
        )
        return known.tolist()


def stand_in(folder: Path) -> None:
    """Have TRL find a server of vLLM, without vLLM."""

    def init(self: VLLMGeneration) -> None:
        if self.accelerator.is_main_process:
            self.vllm_client = Client(self, folder)

    VLLMGeneration._init_vllm = init


def main() -> None:
    orders = json.loads(Path(sys.argv[1]).read_text())
    folder, rank = Path(orders["folder"]), os.environ["RANK"]
    notes = (folder / f"batches-{rank}.jsonl").open("w", buffering=1)
    advantages, learn = EpisodeTrainer._advantages, EpisodeTrainer._generate_and_score_completions
    shown: dict[str, Any] = {}

    def noted(self, batch):
        found = advantages(self, batch)
        first = {
            one.owner: value for one, value in zip(batch, found.tolist(), strict=True) if one.counts
        }
        shown["returns"] = list(first.values())
        return found

    def scored(self, inputs):
        output = learn(self, inputs)
        shown["advantages"] = output["advantages"].tolist()
        shown["items"] = int(output["num_items_in_batch"])
        shown["weights"] = next(self.model.parameters()).flatten()[:64].tolist()
        notes.write(json.dumps(shown) + "\n")
        return output

    EpisodeTrainer._advantages, EpisodeTrainer._generate_and_score_completions = noted, scored
    if orders["served"]:
        stand_in(folder)
    else:
        EpisodeTrainer._generate_single_turn = scripted(answers())
    database = DynamicDatabase(orders["database"])
    trainer = GRPOTrainer(
        orders["model"], None, folder / "out", episodes=True, device="cpu", **orders["options"]
    )
    trainer.train(database.repositories, database, folder / "data")


if __name__ == "__main__":
    main()
