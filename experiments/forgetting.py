"""What retrieval forgets of one repository as it learns the next, and what EWC keeps of it.

    python experiments/forgetting.py FOLDER [--seeds 0 1 2] [--strengths 0 0.1 1] [--epochs 6 3]
        [--report]

For each seed a random encoder (2 layers, 64 dimensions) is trained on the first repository of the
sample; from there on the second alone (``replay=False``), once with each ``lambda_value``. Prints
R@10 (percent) on the held-out theorems of both, before the second and after it, with half of its
95 % interval over tactics. A killed run goes on with the same command.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from math import hypot
from pathlib import Path
from typing import Any

import orjson
import torch

from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.sample import sample_database_path
from premises import over_seeds, random_encoder
from stages import claimed, say


def train(
    folder: Path, seed: int, epochs: int, strength: float, number: int, start: Path | None = None
) -> RetrievalTrainer:
    """Train on one repository of the sample, once; give what has trained."""
    config = TrainingConfig(
        model_name=str(random_encoder(folder.parent, seed)), max_epochs=epochs, lr=1e-3,
        batch_size=8, accumulate_grad_batches=1, warmup_steps=100, num_workers=0,
        precision="32-true", early_stopping_patience=epochs, checkpoint_save_top_k=1,
        lambda_value=strength, replay=False, fisher_examples=500, seed=seed,
        checkpoint_dir=folder, log_dir=folder.parent / "logs",
    )  # fmt: skip
    trainer = RetrievalTrainer(config)
    if not list(folder.glob("*/finished-*.ckpt")):
        say(f"{folder.name}: {epochs} epochs")
        database = folder.parent / "sample.json"
        if not database.exists():
            shutil.copy(sample_database_path(), database)
        repositories = sorted(DynamicDatabase(database).repositories, key=lambda repo: repo.name)
        data = folder.parent / f"{folder.name}-data"
        trainer.train(
            [repositories[number]], DynamicDatabase(database), data,
            model_checkpoint_path=start,
        )  # fmt: skip
    return trainer


def recall(trainer: RetrievalTrainer, data: Path) -> tuple[float, float]:
    """Give R@10, percent, on the held-out theorems of a repository, and half of its interval."""
    torch.set_num_threads(1)
    scores = [trainer.evaluate(data, split).rows for split in ("val", "test")]
    dense = [
        row for rows in scores for row in rows if (row.split, row.method) == ("random", "dense")
    ]
    weights = [row.tactics / sum(row.tactics for row in dense) for row in dense]
    margins = [w * row.scores.margins["R@10"] for w, row in zip(weights, dense, strict=True)]
    found = [w * row.scores.values["R@10"] for w, row in zip(weights, dense, strict=True)]
    return sum(found), hypot(*margins)


def measure(folder: Path, seed: int, epochs: Sequence[int], strengths: Sequence[float]) -> None:
    """Do what is not done for a seed."""
    file = folder / f"recall-{seed}.json"
    found: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    # Any strength but 0 keeps the Fisher information, which the second repository is held by.
    first = train(folder / f"first-{seed}", seed, epochs[0], 0.1, 0)
    start = first.find_latest_checkpoint()
    for strength in strengths:
        if str(strength) in found:
            continue
        name = f"second-{seed}-{strength:g}"
        second = train(folder / name, seed, epochs[1], strength, 1, start)
        places = [folder / f"first-{seed}-data", folder / f"{name}-data"]
        if "before" not in found:
            found["before"] = [recall(first, place) for place in places]
        found[str(strength)] = [recall(second, place) for place in places]
        atomic_write_bytes(file, orjson.dumps(found))


def table(seeds: Sequence[Mapping[str, Sequence[Sequence[float]]]]) -> str:
    """Write for people: the mean over the seeds, and each."""
    lines = ["| lambda_value | first repository, R@10 | second |", "|---|---|---|"]
    for key in dict.fromkeys(key for one in seeds for key in one):
        cells = []
        for place in (0, 1):
            measured = [one[key][place] for one in seeds if key in one]
            cells.append(over_seeds([one[0] for one in measured], [one[1] for one in measured]))
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is not done, and report what is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--strengths", type=float, nargs="+", default=[0.0, 0.1, 1.0])
    parser.add_argument("--epochs", type=int, nargs=2, default=[6, 3])
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = claimed(parser)
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        measure(folder, seed, options.epochs, options.strengths)
    files = sorted(folder.glob("recall-*.json"))
    print(table([json.loads(file.read_bytes()) for file in files]))


if __name__ == "__main__":
    main()
