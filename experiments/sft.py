"""SFT against plain ``trl.SFTTrainer`` with the documented settings: CPU seconds per token, losses.

    python experiments/sft.py [--layers 30] [--hidden 576] [--vocabulary 49152] [--steps 4]
        [--batch 1 2 8] [--skip-lora]

Without a GPU or a download: a model with the shape of SmolLM2-135M (vocabulary 49,152, where the LM
head matters) is built on the spot with random weights. Both sides train on the same rows in the
same order, in turns, on one thread; CPU seconds are compared, so a busy machine does not matter
much.

Three comparisons a setting:

* *documented*: the model's weights in bfloat16, as the documents literally say. Learns next to
  nothing: AdamW's updates are rounded away.
* *documented, fp32 weights*: the same with weights that learn (TRL's bf16 autocast).
* losses step by step, both in float32, which must agree to 1e-5.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import datasets
import torch
from datasets import disable_progress_bars
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PrinterCallback,
    TrainerCallback,
)
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer as TrlTrainer

from lean_dojo_core import Theorem, TracedTactic
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_plugins.causal_lm.model.label_head import restore_forward
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.curriculum import CurriculumStep

LR = 2e-5
LORA: dict[str, Any] = {
    "r": 16,
    "lora_alpha": 32,
    "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"],
}


def rows(count: int) -> list[dict[str, Any]]:
    """Goals of one to fourteen hypotheses, one tactic each."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        hypotheses = [
            f"h{k} : x{k} + {number} ≤ y{k} * {k + 1}" for k in range(1 + number * 5 % 14)
        ]
        goal = "\n".join(
            [*hypotheses, f"⊢ x{number % 7} + y{number % 5} = y{number % 5} + x{number % 7}"]
        )
        step = TracedTactic(f"rw [Nat.add_comm x{number % 7} y{number % 5}]", goal, "no goals")
        theorem = Theorem(f"t{number}", "A.lean", (1, 1), (2, 1), "u", "c", traced_tactics=(step,))
        found.extend(TacticChat().rows(theorem))
    return found


def make_model(folder: Path, layers: int, hidden: int, vocabulary: int) -> str:
    """Save the model that both sides start from; says which one it is."""
    texts = [
        message["content"] for row in rows(200) for message in row["prompt"] + row["completion"]
    ]
    build_tiny_model(texts, folder, vocab_size=2000, max_length=2048)
    (folder / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ '<|start|>' + m['role'] + '\n' + m['content'] + eos_token }}\n"
        "{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant\n' }}{% endif %}"
    )
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=hidden * 8 // 3,
        num_hidden_layers=layers,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
        max_position_embeddings=2048, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    return f"a random model of SmolLM2's kind, {layers} layers of {hidden}"


def draw_adapter(model: torch.nn.Module) -> None:
    """Give an adapter the same first weights on both sides; peft draws new ones each time."""
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        if "lora_A" in name:
            torch.nn.init.normal_(weight, std=1 / LORA["r"])


class Clock(TrainerCallback):
    """CPU seconds from after the first step, which warms up, to the end."""

    def __init__(self) -> None:
        self.start = self.seconds = 0.0

    def on_step_end(self, args: Any, state: Any, *_: Any, **__: Any) -> None:  # noqa: ARG002
        if state.global_step == 1:
            self.start = time.process_time()
        self.seconds = time.process_time() - self.start


def measure(trainer: Any) -> tuple[float, list[float]]:
    clock = Clock()
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(clock)
    trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    return clock.seconds, losses


def plain(folder: Path, data: Any, work: Path, args: dict[str, Any], dtype: Any, lora: bool) -> Any:
    """TRL as the documents use it."""
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    if lora:
        model = get_peft_model(model, LoraConfig(**LORA))
        draw_adapter(model)
    given = {
        "packing": False, "completion_only_loss": True, "learning_rate": LR, "use_cpu": True,
        "train_sampling_strategy": "sequential", "logging_steps": 1, "save_strategy": "no",
        "disable_tqdm": True, **args,
    }  # fmt: skip
    config = SFTConfig(str(work / "plain"), **given)
    trainer = TrlTrainer(model, config, train_dataset=data, processing_class=load_tokenizer(folder))
    return measure(trainer)


def ours(
    folder: Path,
    data: Any,
    work: Path,
    args: dict[str, Any],
    batch: int,
    lora: bool,
    lr: float = LR,
) -> Any:
    """Our step trainer on the same rows in the same order."""
    trainer = SFTTrainer(
        str(folder), str(work / "ours"), batch_size=batch, lr=lr,
        lora_config=LoraConfig(**LORA) if lora else None,
        trainer_args={"train_sampling_strategy": "sequential", "save_strategy": "no", **args},
    )  # fmt: skip
    ready = datasets.Dataset.from_list(list(trainer.prepare_rows(iter(data))))
    step = CurriculumStep(0, 1, (), work / "ours-step", 42, 1)
    restore_forward(trainer.model)
    draw_adapter(trainer.model)
    return measure(trainer.build_step_trainer(ready, step))


def compare(folder: Path, work: Path, batch: int, steps: int, lora: bool) -> None:
    data = datasets.Dataset.from_list(rows(batch * steps))
    args = {"max_steps": steps}
    batched = {**args, "per_device_train_batch_size": batch}
    results = {}
    for name, run in (
        ("documented", lambda: plain(folder, data, work, batched, torch.bfloat16, lora)),
        (
            "documented, fp32 weights",
            lambda: plain(folder, data, work, batched, torch.float32, lora),
        ),
        ("ours", lambda: ours(folder, data, work, args, batch, lora)),
    ):
        results[name] = run()  # type: ignore[no-untyped-call]
        gc.collect()
    title = f"batch {batch}{', LoRA r16' if lora else ''}"
    mine, my_losses = results["ours"]
    for name in ("documented", "documented, fp32 weights"):
        seconds, losses = results[name]
        gap = max(abs(a - b) for a, b in zip(my_losses, losses, strict=True))
        print(
            f"{title:22} {name:26} {seconds:7.2f} s, ours {mine:7.2f} s, "
            f"ratio {seconds / mine:5.2f}; largest gap of losses {gap:.1e}",
            flush=True,
        )


def check_losses(folder: Path, work: Path, lora: bool) -> None:
    """In float32 on both sides the losses are the same numbers."""
    data = datasets.Dataset.from_list(rows(8))
    args = {"bf16": False, "max_steps": 4}
    batched = {**args, "per_device_train_batch_size": 2, "learning_rate": 1e-4}
    theirs = plain(folder, data, work, batched, torch.float32, lora)[1]
    mine = ours(folder, data, work, args, 2, lora, lr=1e-4)[1]
    gap = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    print(
        f"float32, 4 steps{', LoRA' if lora else ''}: largest gap of losses {gap:.1e}", flush=True
    )
    assert gap < 1e-5, (mine, theirs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--layers", type=int, default=30, help="layers of the model built on the spot"
    )
    parser.add_argument("--hidden", type=int, default=576, help="its width; divisible by 9")
    parser.add_argument("--vocabulary", type=int, default=49152, help="its tokens; 2000 at least")
    parser.add_argument(
        "--steps", type=int, default=4, help="optimiser steps; the first one is not timed"
    )
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--skip-lora", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    disable_progress_bars()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder = work / "model"
        made = make_model(folder, options.layers, options.hidden, options.vocabulary)
        print(f"model: {made}; one thread", flush=True)
        for lora in [False] if options.skip_lora else [False, True]:
            check_losses(folder, work, lora)
            for batch in options.batch:
                compare(folder, work, batch, options.steps, lora)


if __name__ == "__main__":
    main()
