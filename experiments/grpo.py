"""GRPO with rewards that Lean verifies: does it learn, what does the reward cost, what is saved?

    python experiments/grpo.py [--steps 60] [--seed 0] [--goals N] [--output-dir benchmark-grpo]

From the shipped model, or the one that ``--model`` names:

- *learning*: GRPO with the verified reward, and with a constant one; the share of sampled tactics
  that Lean verifies at held-out goals, before and after, and a picture of the run
  (``verified/rewards.svg``). Goal: the verified reward raises it, the constant one does not.
  Settings were chosen on the split ``val``; ``test`` had no part in it;
- *cost of the reward*: its share of a step's time. Goal: at most 10 %;
- *against TRL*: seconds per step and tokens per completion of plain ``trl.GRPOTrainer`` with its
  defaults on the same prompts, from that model and from an untrained one, which does not know where
  a tactic ends. Goal: at most half of TRL's time.

Seeds are fixed. About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import datasets
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
from transformers.utils import logging as transformers_logging
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer as PlainTrainer

from lean_dojo_core import Evaluation
from lean_dojo_plugins.causal_lm.text.formatters import TacticPrompt
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_plugins.training.data import formatted_rows, split_file
from lean_dojo_plugins.training.hub import resolve_model
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.sample import SAMPLE_PROJECTS, sample_database_path, sample_project_path

Measured: TypeAlias = dict[str, Evaluation]
"""What a policy's samples earn, by split."""

GROUP = 8
PROMPTS_PER_STEP = 8
BATCH = GROUP * PROMPTS_PER_STEP


def export(work: Path) -> tuple[Any, Any]:
    """Export the sample; give its database and its first repository."""
    file = work / "sample.json"
    shutil.copy(sample_database_path(), file)
    database = DynamicDatabase(file)
    repository = database.repositories[0]
    database.export_merged_data([repository], work / "data")
    return database, repository


def verified_reward(database: Any, engines: int) -> PantographVerified:
    projects = {
        repository.url: sample_project_path(name)
        for repository, name in zip(database.repositories, SAMPLE_PROJECTS, strict=True)
    }
    return PantographVerified(engines=engines, projects=projects)


def build(work: Path, seed: int) -> Path:
    """Build the tiny model."""
    rows = list(formatted_rows(split_file(work / "data"), TacticPrompt()))
    texts = [text for row in rows for text in (row["problem"], row["tactic"])]
    return build_tiny_model(texts, work / "untrained", seed=seed)


def policy(
    model: Path, reward: Any, output: Path, steps: int, lr: float, work: Path,
    run: tuple[Any, Any], seed: int = 0,
) -> GRPOTrainer:  # fmt: skip
    """Train with GRPO; give the trainer with what it has trained."""
    trainer = GRPOTrainer(
        str(model), reward, str(output), batch_size=BATCH, lr=lr, report_to="none", seed=seed,
        trainer_args={
            "max_steps": steps, "num_generations": GROUP, "logging_steps": 1,
            "save_strategy": "no", "lr_scheduler_type": "constant_with_warmup",
            "warmup_steps": 3,
        },
    )  # fmt: skip
    database, repository = run
    trainer.train([repository], database, work / "data")
    return trainer


def lengths(completions: Sequence[Any], **_: Any) -> list[float | None]:
    """A reward that costs nothing."""
    return [float(len(completion[0]["content"])) for completion in completions]


def plain(model: Path, work: Path, steps: int) -> dict[str, float]:
    """Plain TRL with its defaults (completions of up to 512 tokens, no end at the line)."""
    rows = list(formatted_rows(split_file(work / "data"), TacticPrompt()))
    prompts = datasets.Dataset.from_list([{"prompt": row["prompt"]} for row in rows])
    trainer = PlainTrainer(
        model=AutoModelForCausalLM.from_pretrained(model),
        reward_funcs=lengths,
        args=GRPOConfig(
            output_dir=str(work / "plain"), use_cpu=True, max_steps=steps, logging_steps=1,
            per_device_train_batch_size=BATCH, num_generations=GROUP, disable_tqdm=True,
            save_strategy="no", report_to="none",
        ),
        train_dataset=prompts,
        processing_class=AutoTokenizer.from_pretrained(model),
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return medians(trainer.state.log_history)


def medians(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Give the medians of what the steps log, without the first one, which warms everything up."""
    kept = [row for row in rows if "step_time" in row]
    kept = kept[1:] or kept
    names = {name for row in kept for name, value in row.items() if isinstance(value, float)}
    return {name: statistics.median([row[name] for row in kept if name in row]) for name in names}


def logged(output: Path) -> list[dict[str, Any]]:
    lines = (output / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if "step_time" in row]


def measure(model: str | Path, reward: Any, work: Path, options: argparse.Namespace) -> Measured:
    """Sample at the held-out goals; the same goals, seed and judge for every policy."""
    judge = GRPOTrainer(str(model), reward, str(work / "judge"), report_to="none")
    return {
        split: judge.evaluate(work / "data", split, limit=options.goals, samples=options.samples)
        for split in ("val", "test")
    }


def describe(name: str, found: Measured) -> None:
    for split, on in found.items():
        print(
            f"  {name:28} {split:5} {on.examples} goals   verified {on['lean/verified']:6.1%}   "
            f"closed {on['lean/solved']:6.1%}   refused {on['lean/refused']:6.1%}   "
            f"exact match {on['exact_match']:6.1%}",
            flush=True,
        )


def gain(before: Measured, after: Measured) -> str:
    """Say by how much the verified share rose, on each split."""
    name = "lean/verified"
    return ", ".join(
        f"{after[split][name] - before[split][name]:+.1%} on {split}" for split in before
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--model", type=resolve_model, default=SHIPPED, help="start from it")
    parser.add_argument("--steps", type=int, default=60, help="optimiser steps of GRPO")
    parser.add_argument("--samples", type=int, default=4, help="tactics sampled at each goal")
    parser.add_argument("--goals", type=int, help="held-out goals of each split at most")
    parser.add_argument("--lr", type=float, default=1e-4, help="learning rate of GRPO")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything")
    parser.add_argument(
        "--plain-steps", type=int, default=3, help="steps of plain TRL; 0 leaves it out"
    )
    parser.add_argument("--engines", type=int, default=1, help="Lean engines")
    parser.add_argument("--output-dir", type=Path, help="keep models, metrics and pictures here")
    options = parser.parse_args()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.output_dir or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        run(work, options)


def run(work: Path, options: argparse.Namespace) -> None:
    start = time.perf_counter()
    both = export(work)
    untrained = build(work, options.seed)
    tuned = Path(options.model)
    reward = verified_reward(both[0], options.engines)

    print(f"\nheld-out goals, {options.samples} samples each:")
    first = measure(tuned, reward, work, options)
    describe("before", first)
    trained = policy(
        tuned, reward, work / "verified", options.steps, options.lr, work, both, options.seed
    )
    second = measure(trained.output_dir, reward, work, options)
    describe(f"{options.steps} steps, verified reward", second)
    few = max(3, options.steps // 6)
    constant = policy(
        tuned, "constant", work / "constant", few, options.lr, work, both, options.seed
    )
    third = measure(constant.output_dir, reward, work, options)
    describe(f"{few} steps, constant reward", third)
    reward.close()
    print(f"  verified reward: {gain(first, second)} (goal: above 0)")
    print(f"  constant reward: {gain(first, third)} (goal: 0)")

    rows = logged(work / "verified")
    third_of_run = max(1, len(rows) // 3)
    early, late = (
        statistics.mean(row["lean/verified"] for row in part)
        for part in (rows[:third_of_run], rows[-third_of_run:])
    )
    print(f"  in training: verified {early:.1%} in the first third, {late:.1%} in the last one")
    ours = medians(rows)
    share = ours["time/reward"] / ours["step_time"]
    print(
        f"\nstep {ours['step_time']:.2f} s: generation {ours['time/generation']:.2f} s, "
        f"reward {ours['time/reward']:.2f} s = {share:.1%} (goal: at most 10 %)"
    )
    print(f"picture: {work / 'verified' / 'rewards.svg'}" if options.output_dir else "")
    models = (("fine-tuned", tuned), ("untrained", untrained)) if options.plain_steps else ()
    for name, model in models:
        compare(name, model, work, options.plain_steps, both)
    print(f"\n{time.perf_counter() - start:.0f} s in all, load {os.getloadavg()[0]:.1f}")


def compare(name: str, model: Path, work: Path, steps: int, run: tuple[Any, Any]) -> None:
    torch.manual_seed(0)
    theirs = plain(model, work, steps)
    policy(model, "constant", work / f"ours-{name}", steps, 1e-6, work, run)
    ours = medians(logged(work / f"ours-{name}"))
    tokens, fewer = theirs["completions/mean_length"], ours["completions/mean_length"]
    print(
        f"from the {name} model: plain TRL {theirs['step_time']:.2f} s a step and {tokens:.1f} "
        f"tokens a completion; ours {ours['step_time']:.2f} s and {fewer:.1f} tokens: "
        f"{theirs['step_time'] / ours['step_time']:.1f} x, {1 - fewer / tokens:.0%} of the tokens "
        "saved",
        flush=True,
    )


if __name__ == "__main__":
    main()
