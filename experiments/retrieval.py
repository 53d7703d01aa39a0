"""Benchmarks of premise retrieval against the plain way of doing the same.

Run ``python experiments/retrieval.py`` (all) or name some: ``corpus index train``.
Prints one JSON object a line: what, ours, plain, ratio. Times are CPU seconds of this process, so
that a busy machine does not change them; the two ways are timed in turn.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import T5Config, T5EncoderModel

import lean_dojo_v2
from lean_dojo_plugins.retrieval.data.batches import LengthGroupedBatches
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position
from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.premise_retriever import (
    PremiseRetriever,
    inference_autocast,
    weighted_mse,
)
from lean_dojo_v2.database import DynamicDatabase

PARTS = ("corpus", "index", "train")
MATHLIB_FILES, MATHLIB_PREMISES = 5_000, 170_000


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def report(name: str, **values: Any) -> None:
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in values.items()}
    print(json.dumps({"benchmark": name, **rounded}), flush=True)


def lengths_like_lean(count: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Draw text lengths as premises of Mathlib have them: log-normal, median 120 bytes."""
    return np.clip(rng.lognormal(np.log(120), 0.75, count), 20, 1_500).astype(int)


def mathlib_sized(folder: Path) -> Path:
    """Write a corpus of Mathlib's size."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(MATHLIB_PREMISES, np.full(MATHLIB_FILES, 1 / MATHLIB_FILES))
    sizes = iter(lengths_like_lean(MATHLIB_PREMISES, rng).tolist())
    path = folder / "corpus.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for file, count in enumerate(counts):
            imports = (
                sorted({int(i) for i in rng.integers(0, file, 4)} | {file - 1}) if file else []
            )
            premises = [
                {
                    "full_name": f"Ns{file}.lemma{i}",
                    "code": f"theorem lemma{i} : " + "x" * next(sizes),
                    "start": [2 * i + 1, 1],
                    "end": [2 * i + 1, 90],
                    "kind": "theorem",
                }
                for i in range(count)
            ]
            line = {"path": f"F{file}.lean", "imports": [f"F{i}.lean" for i in imports]}
            stream.write(json.dumps({**line, "premises": premises}) + "\n")
    return path


def bench_corpus(folder: Path) -> None:
    path = mathlib_sized(folder)
    before = peak_mb()
    start = time.process_time()
    corpus = Corpus.read(path)
    seconds = time.process_time() - start
    masks = cpu_seconds(
        lambda: [corpus.visibility.mask(f, pack_position((9, 1))) for f in range(0, 5_000, 50)]
    )
    report(
        "corpus load",
        files=MATHLIB_FILES,
        premises=len(corpus),
        seconds=seconds,
        peak_mb=peak_mb(),
        peak_mb_before=before,
        mask_milliseconds=1000 * masks / 100,
    )


def encoder(folder: Path, **changes: Any) -> PremiseRetriever:
    torch.manual_seed(0)
    settings = {
        "vocab_size": 384, "d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2, "num_heads": 4,
        "feed_forward_proj": "gated-gelu",
    }  # fmt: skip
    T5EncoderModel(T5Config(**{**settings, **changes})).save_pretrained(folder / "encoder")
    return PremiseRetriever(str(folder / "encoder"), max_seq_len=512).eval()


def texts(count: int) -> list[str]:
    sizes = lengths_like_lean(count, np.random.default_rng(1))
    return ["theorem " + "x" * int(size) for size in sizes]


def bench_index(folder: Path, count: int = 384) -> None:
    model = encoder(folder)
    store = model.tokens(texts(count))

    @torch.inference_mode()
    def plain(size: int = 32) -> None:
        for first in range(0, count, size):
            model.embed(store.pad(range(first, min(first + size, count))))

    model.embed(store.pad(range(4)))  # warm up

    def plain_in_bfloat16() -> None:
        with inference_autocast(model.device):
            plain()

    ours, other, half = [], [], []
    for _ in range(2):
        other.append(cpu_seconds(plain))
        half.append(cpu_seconds(plain_in_bfloat16))
        ours.append(cpu_seconds(lambda: model.embed_all(store)))
    report(
        "indexing",
        premises=count,
        ours_per_second=count / min(ours),
        plain_per_second=count / min(other),
        ratio=min(other) / min(ours),
        ratio_in_the_same_precision=min(half) / min(ours),
        goal=1.5,
        peak_mb=peak_mb(),
    )


def bench_train(folder: Path) -> None:
    """Training pairs per second: grouped lengths, dynamic padding, no duplicates; or all at 512."""
    data = export(folder)
    items = data.train_items
    model = encoder(folder, d_model=64, d_kv=16, d_ff=128, num_layers=2).train()
    keys = list(LengthGroupedBatches(items.lengths, 8, seed=0))[:6]
    batches = [items.collate([items[key] for key in batch]) for batch in keys]

    def grouped() -> None:
        for batch in batches:
            weighted_mse(model(batch), batch).backward()  # type: ignore[no-untyped-call]

    def fixed() -> None:
        for batch in batches:
            queries, premises = (
                torch.nn.functional.pad(tokens[index], (0, 512 - tokens.shape[1]))
                for tokens, index in (
                    (batch["queries"], batch["rows"]),
                    (batch["premises"], batch["columns"]),
                )
            )
            loss = weighted_mse(model.embed(queries) @ model.embed(premises).T, batch)
            loss.backward()  # type: ignore[no-untyped-call]

    ours = [cpu_seconds(grouped) for _ in range(2)]
    plain = [cpu_seconds(fixed)]
    pairs = sum(len(batch["rows"]) for batch in batches)
    report(
        "training",
        pairs=pairs,
        ours_per_second=pairs / min(ours),
        plain_per_second=pairs / min(plain),
        ratio=min(plain) / min(ours),
    )


def sample_database(folder: Path) -> DynamicDatabase:
    """Copy the database of the shipped sample."""
    sample = Path(lean_dojo_v2.__file__).parent / "sample" / "traced" / "sample.json"
    copy = folder / "sample.json"
    copy.write_bytes(sample.read_bytes())
    return DynamicDatabase(copy)


def export(folder: Path) -> RetrievalDataModule:
    """Give the training data of the shipped sample."""
    database = sample_database(folder)
    database.export_merged_data(database.repositories, folder / "export")
    data = RetrievalDataModule(
        folder / "export" / "random",
        folder / "export" / "corpus.jsonl",
        max_seq_len=512,
    )
    data.setup()
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}")
    wanted = parser.parse_args().what or PARTS
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "corpus" in wanted:
            bench_corpus(folder)
        if "index" in wanted:
            bench_index(folder)
        if "train" in wanted:
            bench_train(folder)


if __name__ == "__main__":
    main()
