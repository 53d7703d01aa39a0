"""How well premises are retrieved, and whether a prover proves more that is shown them.

    python experiments/premises.py FOLDER [--seeds 0 1 2] [--parts retrieval proofs]
        [--epochs 3] [--generator MODEL] [--limit N] [--report]

Every stage is a public command; a killed run goes on with the same command. For each seed a random
encoder (2 layers, 64 dimensions) is trained on the sample, on each of the two splits by itself, and
measured on that split's test theorems, beside BM25 and its untrained self. Then the sample's 260
held-out and 45 ``sorry`` theorems are proved by the generator alone, and by the same generator with
the best premises before each goal, in a search of the same limits.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import orjson

from arms import bench_folder, compared, measured, outcomes
from lean_dojo_v2.benchmarks.statistics import Share
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.sample import sample_database_path
from learning import LIMITS
from stages import claimed, command, say

STRATEGIES = ("random", "novel_premises")
PARTS = ("retrieval", "proofs")
METRICS = ("R@1", "R@10", "MRR")
PREMISES = 4
"""Premises before a goal: more leave a small model's context no room for the goal."""


class Laboratory:
    """One folder, one seed."""

    def __init__(self, folder: Path, seed: int, options: argparse.Namespace) -> None:
        self.folder = folder
        self.seed = seed
        self.options = options

    def retrieval(self) -> None:
        """Train and measure retrievers."""
        for strategy in STRATEGIES:
            self.retriever(strategy)

    def proofs(self) -> None:
        """Prove with premises and without."""
        self.retriever("random")
        generator = self.options.generator
        corpus = self.folder / f"random-{self.seed}-data" / "corpus.jsonl"
        (checkpoint,) = (self.folder / f"random-{self.seed}").glob("*/finished-*.ckpt")
        shown = {"ret_ckpt_path": checkpoint, "gen_ckpt_path": generator,
                 "indexed_corpus_path": corpus, "num_premises": PREMISES}  # fmt: skip
        words = [w for key, value in shown.items() for w in ("--prover-set", f"{key}={value}")]
        self.measure("alone", "--model", generator)
        self.measure("premises", "--prover", "retrieval", *words)

    def retriever(self, strategy: str) -> None:
        """Train a retriever on a split, and measure it before and after."""
        model = self.folder / f"{strategy}-{self.seed}"
        data = self.folder / f"{model.name}-data"
        database = self.folder / "sample.json"
        if not database.exists():
            shutil.copy(sample_database_path(), database)
        given = {
            "model_name": random_encoder(self.folder, self.seed), "split_strategy": strategy,
            "single_repo": "false", "run_progressive_training": "false",
            "max_epochs": self.options.epochs, "early_stopping_patience": self.options.epochs,
            "batch_size": 8, "accumulate_grad_batches": 1, "warmup_steps": 100, "num_workers": 0,
            "precision": "32-true", "checkpoint_save_top_k": 1, "seed": self.seed,
            "log_dir": self.folder / "logs",
        }  # fmt: skip

        def settings(checkpoints: Path) -> list[str]:
            every = {**given, "checkpoint_dir": checkpoints}
            return [w for key, value in every.items() for w in ("--set", f"config.{key}={value}")]

        trained = model.with_name(f"{model.name}.trained")
        command(
            "train", "retrieval", "--database", database, "--data-path", data, *settings(model),
            done=trained,
        )  # fmt: skip
        for folder in (model, model.with_name(f"untrained-{model.name}")):
            measured = folder.with_name(f"{folder.name}.measured")
            command("evaluate", "retrieval", "--data-path", data, *settings(folder), done=measured)

    def measure(self, arm: str, *prover: str | Path) -> None:
        """Let a prover try the sample's theorems."""
        run = bench_folder(self.folder, arm, self.seed)
        limit = () if self.options.limit is None else ("-n", str(self.options.limit))
        command(
            "bench", "sample", *prover, *LIMITS, *limit, "--seed", str(self.seed), "-j", "1",
            "-o", run,
            done=run.with_suffix(".measured"),
        )  # fmt: skip


def random_encoder(folder: Path, seed: int) -> Path:
    """Make a seed's encoder."""
    import torch
    from transformers import T5Config, T5EncoderModel

    place = folder / f"encoder-{seed}"
    if not (place / "model.safetensors").exists():
        torch.manual_seed(seed)
        shape = T5Config(
            vocab_size=384, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
            feed_forward_proj="gated-gelu",
        )  # fmt: skip
        T5EncoderModel(shape).save_pretrained(place)
    return place


def retrieved(folder: Path) -> Iterator[dict[str, Any]]:
    """Give what was measured of retrieval: a row for split, method and seed."""
    for strategy in STRATEGIES:
        for done in sorted(folder.glob(f"{strategy}-*.measured")):
            for method, name in (("trained", done.stem), ("untrained", f"untrained-{done.stem}")):
                file = folder / name / "evaluation.json"
                rows = json.loads(file.read_bytes())["rows"] if file.is_file() else []
                for row in rows:
                    if row["split"] != strategy:
                        continue  # the other split's test theorems have been trained on
                    dense = row["method"] == "dense"
                    if dense or method == "trained":  # BM25 is the same twice
                        yield {**row, "method": method if dense else "BM25"}


def report(folder: Path) -> dict[str, Any]:
    """Give all that is measured so far."""
    rows = list(retrieved(folder))
    found: dict[str, Any] = {"retrieval": rows}
    arms = {arm: outcomes(measured(folder), arm) for arm in ("alone", "premises")}
    if arms["alone"].keys() & arms["premises"].keys():
        found["proofs"] = {
            arm: str(Share.of(sum(sum(p.values()) for p in runs.values()),
                              sum(map(len, runs.values()))))
            for arm, runs in arms.items()
        }  # fmt: skip
        found["premises - alone"] = compared(arms["premises"], arms["alone"])
    return found


def table(found: Mapping[str, Any]) -> str:
    """Write the report for people: the mean over the seeds, half of its 95 % interval, all."""
    lines = [
        "| split | method | tactics | " + " | ".join(METRICS) + " |",
        "|---|---|---|---|---|---|",
    ]
    for strategy in STRATEGIES:
        for method in ("untrained", "BM25", "trained"):
            rows = [
                r for r in found["retrieval"] if (r["split"], r["method"]) == (strategy, method)
            ]
            if not rows:
                continue
            cells = [
                over_seeds(
                    [row["scores"][metric] for row in rows],
                    [row["margins"][metric] for row in rows],
                    digits=3 if metric == "MRR" else 1,
                )
                for metric in METRICS
            ]
            lines.append(f"| {strategy} | {method} | {rows[0]['tactics']} | {' | '.join(cells)} |")
    lines += ["", *(f"{arm}: {share}" for arm, share in found.get("proofs", {}).items())]
    if one := found.get("premises - alone"):
        lines.append(
            f"premises - alone: {one['points']:+.1f} points, 95 % interval {one['low']:+.1f} to "
            f"{one['high']:+.1f}, p = {one['p']:.2g}, seed by seed "
            + ", ".join(f"{p:.2g}" for p in one["p of each seed"])
        )
    return "\n".join(lines) + "\n"


def over_seeds(values: Sequence[float], margins: Sequence[float], digits: int = 1) -> str:
    """Say a metric; its interval is over tactics, which are the same for every seed."""
    text = f"{mean(values):.{digits}f} ± {mean(margins):.{digits}f}"
    if min(values) == max(values):
        return text
    return f"{text} ({', '.join(f'{value:.{digits}f}' for value in values)})"


def main() -> None:
    """Run what is not done, and report what is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--generator", default=SHIPPED, help="folder of a model")
    parser.add_argument("--limit", type=int, help="theorems at most")
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = claimed(parser)
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        say(f"seed {seed}")
        for part in options.parts:
            getattr(Laboratory(folder, seed, options), part)()
    found = report(folder)
    atomic_write_bytes(folder / "report.json", orjson.dumps(found, option=orjson.OPT_INDENT_2))
    atomic_write_text(folder / "report.md", table(found))
    print(table(found))


if __name__ == "__main__":
    main()
