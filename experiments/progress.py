"""The progress trainer against padding every input to ``max_length``: samples a second, metrics.

    python experiments/progress.py [--examples 240] [--epochs 1] [--batch 8] [--max-length 512]

Both sides train an encoder of MiniLM's shape (22 million parameters, random, the same ones) on the
same traced proofs of the shipped sample, on one thread; CPU seconds of the training steps are
compared, evaluation and saving left out, so a busy machine does not matter much. The plain side is
``transformers.Trainer`` in float32 with ``padding="max_length"``, as LeanDojo-v2 1.x trained.

Goal: at least three times the samples a second, with the same metrics on the held-out proofs.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import datasets
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging as transformers_logging

from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_plugins.progress.dataset import ProgressDataset
from lean_dojo_plugins.progress.estimator import measures
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_v2.lean_progress.create_sample_dataset import create
from lean_dojo_v2.lean_progress.examples import ProgressExample

LR, SEED, HELD_OUT = 3e-4, 0, 0.25


class Clock(TrainerCallback):
    """CPU seconds of the training steps alone."""

    def __init__(self) -> None:
        self.seconds = self._start = 0.0

    def on_step_begin(self, args: Any, state: Any, *_: Any, **__: Any) -> None:  # noqa: ARG002
        self._start = time.process_time()

    def on_step_end(self, args: Any, state: Any, *_: Any, **__: Any) -> None:  # noqa: ARG002
        self.seconds += time.process_time() - self._start


def make_encoder(folder: Path, texts: list[str]) -> None:
    """Save an encoder of MiniLM's shape with a vocabulary of these texts."""
    build_tiny_model(texts, folder, vocab_size=2000)
    for file in ("config.json", "generation_config.json", "model.safetensors"):
        (folder / file).unlink()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    set_seed(SEED)
    BertModel(config).save_pretrained(folder)


def ours(
    file: Path, encoder: Path, work: Path, options: argparse.Namespace
) -> tuple[float, dict[str, float]]:
    """Train with the progress trainer."""
    clock = Clock()
    trainer = ProgressTrainer(
        file, str(encoder), str(work / "ours"), max_length=options.max_length,
        batch_size=options.batch, epochs=options.epochs, learning_rate=LR, eval_ratio=HELD_OUT,
        seed=SEED, report_to="none", device=options.device,
    )  # fmt: skip
    build = Trainer.__init__

    def with_clock(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        self.add_callback(clock)

    Trainer.__init__ = with_clock  # type: ignore[method-assign]
    try:
        trainer.train()
    finally:
        Trainer.__init__ = build  # type: ignore[method-assign]
    return clock.seconds, dict(trainer.evaluate().metrics)


def plain(
    file: Path, encoder: Path, work: Path, options: argparse.Namespace
) -> tuple[float, dict[str, float]]:
    """Train with everything padded to the longest input that is allowed."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.truncation_side = "left"

    def padded(examples: Iterable[ProgressExample]) -> Any:
        columns = tokenizer(
            [example.text for example in examples],
            truncation=True, padding="max_length", max_length=options.max_length,
        )  # fmt: skip
        labels = [float(example.label) for example in examples]
        return datasets.Dataset.from_dict({**columns, "label": labels})

    kept, held_out = ProgressDataset(file).split(HELD_OUT, SEED)
    set_seed(SEED)
    clock = Clock()
    trainer = Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(
            encoder, num_labels=1, problem_type="regression"
        ),
        args=TrainingArguments(
            output_dir=str(work / "plain"), num_train_epochs=options.epochs, learning_rate=LR,
            per_device_train_batch_size=options.batch, per_device_eval_batch_size=4 * options.batch,
            seed=SEED, use_cpu=options.device == "cpu", disable_tqdm=True, report_to="none",
            save_strategy="no", warmup_steps=0.05, bf16=False,
        ),
        train_dataset=padded(kept),
        compute_metrics=lambda found: measures(found.predictions, found.label_ids),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(clock)
    trainer.train()
    output = trainer.predict(padded(held_out))
    return clock.seconds, measures(output.predictions, output.label_ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--examples", type=int, default=240, help="examples to take")
    parser.add_argument("--epochs", type=int, default=1, help="passes over them")
    parser.add_argument("--batch", type=int, default=8, help="examples per step")
    parser.add_argument("--max-length", type=int, default=512, help="tokens of an input at most")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps")
    options = parser.parse_args()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        file = work / "steps.jsonl"
        create(file)
        lines = file.read_text().splitlines()
        every = max(1, len(lines) // options.examples)
        file.write_text("\n".join(lines[::every][: options.examples]))
        texts = [json.loads(line)["goal"] for line in lines]
        make_encoder(work / "encoder", texts)
        trained = len(ProgressDataset(file).split(HELD_OUT, SEED)[0]) * options.epochs
        found = {}
        for name, train in (("padded to max_length", plain), ("progress trainer", ours)):
            seconds, metrics = found[name] = train(file, work / "encoder", work, options)
            numbers = ", ".join(f"{key} {metrics[key]:.3f}" for key in ("mse", "mae", "within_one"))
            print(f"{name:22} {trained / seconds:6.2f} samples / CPU s   {numbers}", flush=True)
        ratio = found["padded to max_length"][0] / found["progress trainer"][0]
        print(f"{ratio:.1f} x (goal: 3)")


if __name__ == "__main__":
    main()
