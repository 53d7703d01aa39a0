"""Training on a GPU: SFT (all weights, LoRA) and GRPO of randomly initialised Llamas in bfloat16.

    python experiments/gpu.py [--sizes 1b 7b] [--steps 8] [--batch 8]

For each size and kind of training it prints tokens per second, the share of the GPU's peak
arithmetic rate (6 operations per weight and trained token, 4 with LoRA, 2 per generated token; what
gradient checkpointing computes again is not counted) and the peak memory. The data is the shipped
sample, so rows are short. Without a GPU it says so and exits with 0; ``--cpu`` runs a tiny size on
the CPU, to check the script itself.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import attrs
import datasets
import torch
from peft import LoraConfig
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, TrainerCallback
from transformers.utils import logging as transformers_logging

from lean_dojo_plugins.causal_lm.text.formatters import TacticPrompt
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.causal_lm.trainer import CausalBase
from lean_dojo_plugins.grpo.groups import plan_groups
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.curriculum import CurriculumStep
from lean_dojo_plugins.training.data import formatted_rows, split_file
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.sample import sample_database_path

VOCABULARY = 32_000
SIZES = {
    "1b": {"hidden_size": 2048, "intermediate_size": 5632, "layers": 22, "heads": 32, "kv": 4},
    "7b": {"hidden_size": 4096, "intermediate_size": 11008, "layers": 32, "heads": 32, "kv": 32},
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "layers": 2, "heads": 2, "kv": 2},
}
"""TinyLlama's and Llama 2's shapes, and one to check this script."""
PEAKS = {
    "B200": 2250e12, "H200": 989e12, "H100 PCIe": 756e12, "H100": 989e12, "A100": 312e12,
    "L40S": 362e12, "L4": 121e12, "A10": 125e12, "4090": 165e12,
}  # fmt: skip
"""Dense bfloat16 operations per second, from the data sheets."""
WARM_UP = 2
"""Steps that are not timed."""


class Clock(TrainerCallback):
    """Seconds of the steps after the first ones."""

    def __init__(self) -> None:
        self.start = self.seconds = 0.0
        self.steps = 0

    def on_step_end(self, args: Any, state: Any, *_: Any, **__: Any) -> None:  # noqa: ARG002
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        if state.global_step == WARM_UP:
            self.start = time.perf_counter()
        elif state.global_step > WARM_UP:
            self.seconds = time.perf_counter() - self.start
            self.steps = state.global_step - WARM_UP


@attrs.frozen
class Figures:
    """What one run took: seconds per step, tokens trained and generated per step, memory."""

    seconds: float
    trained: float
    generated: float
    memory: int


class Timed(CausalBase):
    """Gives its step trainer a clock."""

    clock: Clock

    def build_step_trainer(self, dataset: Any, step: CurriculumStep) -> Any:
        trainer = super().build_step_trainer(dataset, step)  # type: ignore[safe-super]
        self.clock = Clock()
        trainer.add_callback(self.clock)
        return trainer


class TimedSFT(Timed, SFTTrainer):
    """``sft`` with a clock."""


class TimedGRPO(Timed, GRPOTrainer):
    """``grpo`` with a clock."""


def build_model(size: str, folder: Path, texts: list[str]) -> int:
    """Save a randomly initialised model with a tokenizer; give its number of weights."""
    shape = SIZES[size]
    build_tiny_model(texts, folder, hidden_size=64, layers=1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=shape["hidden_size"],
        intermediate_size=shape["intermediate_size"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], num_key_value_heads=shape["kv"],
        max_position_embeddings=2048, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
            model = LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(default)
    model.save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


def train(
    kind: str, model: Path, output: Path, run: tuple[Any, Any, Path], options: Any
) -> Figures:
    """Train for a few steps; give what the timed ones took."""
    database, repository, data = run
    common = {"max_steps": WARM_UP + options.steps, "logging_steps": 1, "save_strategy": "no"}
    lora = LoraConfig(r=16, lora_alpha=32) if "LoRA" in kind else None
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    trainer: Any
    if kind.startswith("SFT"):
        trainer = TimedSFT(
            str(model), str(output), batch_size=options.batch, lora_config=lora,
            report_to="none", trainer_args=common,
        )  # fmt: skip
    else:
        trainer = TimedGRPO(
            str(model), "length-penalised", str(output), batch_size=options.batch,
            lora_config=lora, report_to="none", trainer_args=common,
        )  # fmt: skip
    trainer.train([repository], database, data)
    lines = (output / "metrics.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if "num_tokens" in row]
    tokens = (rows[-1]["num_tokens"] - rows[WARM_UP - 1]["num_tokens"]) / trainer.clock.steps
    lengths = [row["completions/mean_length"] for row in rows if "completions/mean_length" in row]
    plan = plan_groups(options.batch, 1, {})
    completions = plan.num_generations * plan.prompts_per_step
    generated = sum(lengths) / len(lengths) * completions if lengths else 0.0
    memory = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    seconds = trainer.clock.seconds / trainer.clock.steps
    return Figures(seconds, tokens, generated, memory)


def report(name: str, weights: int, found: Figures, peak: float | None, lora: bool) -> None:
    operations = (4 if lora else 6) * weights * found.trained + 2 * weights * found.generated
    share = f"{operations / found.seconds / peak:6.1%}" if peak else "   n/a"
    print(
        f"{name:16} {found.seconds:8.3f} s/step {found.trained / found.seconds:10.0f} trained "
        f"tokens/s {found.generated / found.seconds:8.0f} generated tokens/s   {share} of peak   "
        f"{found.memory / 2**30:6.1f} GiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["1b", "7b"])
    parser.add_argument("--steps", type=int, default=8, help="timed optimiser steps")
    parser.add_argument("--batch", type=int, default=8, help="rows, or completions, per pass")
    parser.add_argument("--cpu", action="store_true", help="run the tiny size on the CPU")
    options = parser.parse_args()
    if options.cpu:
        options.sizes = ["tiny"]
    elif not torch.cuda.is_available():
        print("There is no GPU here; nothing is measured.")
        return
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    datasets.disable_progress_bars()
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    peak = next((rate for name, rate in PEAKS.items() if name in device), None)
    print(f"{device}, batch {options.batch}, {options.steps} timed steps")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        shutil.copy(sample_database_path(), work / "sample.json")
        database = DynamicDatabase(work / "sample.json")
        repository = database.repositories[0]
        database.export_merged_data([repository], work / "data")
        rows = formatted_rows(split_file(work / "data"), TacticPrompt())
        texts = [text for row in rows for text in (row["problem"], row["tactic"])]
        for size in options.sizes:
            weights = build_model(size, work / size, texts)
            print(f"{size}: {weights / 1e9:.2f} billion weights", flush=True)
            for kind in ("SFT", "SFT, LoRA", "GRPO, LoRA", "GRPO"):
                measure(kind, weights, peak, work / size, (database, repository, work / "data"),
                        options)  # fmt: skip
            shutil.rmtree(work / size)


def measure(
    kind: str, weights: int, peak: float | None, model: Path, run: tuple[Any, Any, Path],
    options: argparse.Namespace,
) -> None:  # fmt: skip
    output = model.with_name("output")
    try:
        found = train(kind, model, output, run, options)
        report(kind, weights, found, peak, "LoRA" in kind)
    except torch.OutOfMemoryError:
        print(f"{kind:16} does not fit into this GPU's memory", flush=True)
    finally:
        shutil.rmtree(output, ignore_errors=True)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
