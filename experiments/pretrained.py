"""What a pretrained language model proves before and after training, beside the model that ships.

    python experiments/pretrained.py FOLDER MODEL [--theorems 60] [--lean-calls 32] [--steps 30]
        [--batch 4] [--grpo-steps 4] [--engines 1] [--limit N] [--json]

MODEL is a model's folder, or a GGUF file, whose weights become an ordinary folder. Every stage is a
public command; a killed run goes on with the same command, stage by stage.

| stage | |
|---|---|
| automation | ``bench held-out --prover automation`` |
| shipped, before, after | ``bench held-out``: the model alone, and beside automation |
| sft | LoRA on the sample's human proofs |
| expert-iteration | one round, from what ``sft`` learned |
| grpo | whole proofs, a few steps, from what ``sft`` learned |

*Sampling*: tactics a second of the processor, also with prose cut off, beside plain ``generate`` of
transformers with the same prompts, samples and longest tactic.

``report.md`` has what each proves, and the wall time, processor time and peak memory of each stage:
of its process and the engines that it started, in all.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import attrs
import orjson
import psutil

from lean_dojo_v2.benchmarks import PROVER, AttemptFolder, Comparison, proved_by
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.lean import Server, TacticWords
from lean_dojo_v2.prover import SHIPPED
from lean_dojo_v2.sample import (
    SAMPLE_PROJECTS,
    SAMPLE_URLS,
    sample_database_path,
    sample_project_path,
)
from stages import begun, claimed, say

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
"""Of a Llama. An adapter that is trained further records these names, not ``all-linear``."""
LORA = {"r": 16, "lora_alpha": 32, "target_modules": LINEAR}
TACTIC_TOKENS = 48
"""Longest tactic that is sampled: an untrained model writes prose to the last token it may."""
PROOF_TOKENS = 128
SAMPLING_FILE = "sampling.json"
BATCH = 16
"""Examples of an optimiser step of ``sft``."""
GROUP = 4
GOALS, SAMPLES = 4, 8
"""Of the measurement of sampling."""
ALONE = "-alone"
AUTOMATION = "automation"


@attrs.frozen
class Spent:
    """What a stage took: seconds by the clock and of the processor, and megabytes at its peak."""

    seconds: float
    processor: float
    megabytes: int


class Pretrained:
    """One folder, one model."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder: Path = options.folder
        self.record = self.folder / "stages.json"
        self.model = model_folder(options.model, self.folder / "model")
        self.database = self.folder / "sample.json"
        if not self.database.exists():
            shutil.copy(sample_database_path(), self.database)

    def run(self) -> None:
        """Run every stage that is not done."""
        self.bench(AUTOMATION, "--prover", AUTOMATION, "--samples", 64)
        self.measure("shipped", SHIPPED)
        self.measure("before", self.model)
        self.sample()
        tuned = self.train("sft", self.model, self.options.steps, **self.sft())
        self.measure("after", tuned)
        self.train("expert-iteration", tuned, self.options.steps, **self.self_training())
        self.train("grpo", tuned, self.options.grpo_steps, **self.grpo())

    def sft(self) -> dict[str, Any]:
        """Give the settings of LoRA; a pass holds few examples, for memory."""
        return {
            "batch_size": self.options.batch, "lr": 5e-4, "lora_config": json.dumps(LORA),
            "trainer_args.gradient_accumulation_steps": max(1, BATCH // self.options.batch),
        }  # fmt: skip

    def self_training(self) -> dict[str, Any]:
        """Give the settings of one round."""
        return {
            **self.sft(), "rounds": 1, "problems": '["hidden"]', "human_share": 0.5,
            "problems_per_round": self.options.limit or self.options.theorems,
            "samples": 8, "expansions": 6, "visits": 2,
            "projects": json.dumps(projects()), "engines": self.options.engines,
        }  # fmt: skip

    def grpo(self) -> dict[str, Any]:
        """Give the settings of reinforcement on whole proofs."""
        reward = {"engines": self.options.engines, "projects": projects(), "timeout": 1200}
        return {
            "batch_size": GROUP, "lr": 2e-5, "formatter": "whole-proof",
            "lora_config": json.dumps(LORA), "process_weight": 0.5,
            "reward_func": json.dumps({"proof-verified": reward}),
            "trainer_args.num_generations": GROUP, "trainer_args.logging_steps": 1,
            "trainer_args.max_completion_length": PROOF_TOKENS,
        }  # fmt: skip

    def train(self, stage: str, start: Path, steps: int, **settings: Any) -> Path:
        """Train, once; give the folder of the result."""
        output = self.folder / stage
        given = {
            "model_name": start, "output_dir": output, "seed": 0, "report_to": "none",
            "max_length": 512, "trainer_args.max_steps": steps, "trainer_args.save_steps": 10,
            **settings,
        }  # fmt: skip
        sets = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
        self.stage(
            stage, "train", stage, "--database", self.database,
            "--data-path", self.folder / f"{stage}-data", *sets,
        )  # fmt: skip
        return output

    def measure(self, stage: str, model: Path | str) -> None:
        """Let a model try the theorems alone, and beside automation."""
        how = (
            "--model", model, "--samples", 8, "--visits", self.options.lean_calls,
            "--no-automation", "--prover-set", f"max_new_tokens={TACTIC_TOKENS}",
        )  # fmt: skip
        self.bench(f"{stage}{ALONE}", *how)
        self.bench(stage, *how, "--prover-set", "automation=true")

    def bench(self, stage: str, *who: object) -> None:
        """Measure a prover, once."""
        count = self.options.limit or self.options.theorems
        self.stage(
            stage, "bench", "held-out", *who, "--database", self.database, "-n", count,
            "--lean-calls", self.options.lean_calls, "-j", self.options.engines, "--seed", 0,
            "-o", self.folder / "bench" / stage,
        )  # fmt: skip

    def sample(self) -> None:
        """Measure sampling, once."""
        if not (file := self.folder / SAMPLING_FILE).exists():
            say("sampling")
            found = elsewhere(sampling, self.model, self.options.limit or GOALS)
            atomic_write_bytes(file, orjson.dumps(found, option=orjson.OPT_INDENT_2))

    # --- stages that are done once --------------------------------------------------------------

    def done(self) -> dict[str, Spent]:
        """Read what each finished stage took."""
        if not self.record.exists():
            return {}
        return {name: Spent(**one) for name, one in orjson.loads(self.record.read_bytes()).items()}

    def stage(self, name: str, *words: object) -> None:
        """Run a command unless it is done, and note what it took."""
        done = self.done()
        if name in done:
            return
        taken = watched([str(word) for word in words])
        say(f"{name}: {taken.seconds / 60:.1f} min, {taken.megabytes} MB")
        found = {key: attrs.asdict(one) for key, one in (done | {name: taken}).items()}
        atomic_write_bytes(self.record, orjson.dumps(found, option=orjson.OPT_INDENT_2))

    # --- the report -----------------------------------------------------------------------------

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each stage that is done."""
        base = self.proved(AUTOMATION)
        for name, taken in self.done().items():
            row: dict[str, Any] = {"stage": name, **attrs.asdict(taken)}
            if (found := self.proved(name)) is not None:
                row |= {"proved": sum(found.values()), "tried": len(found)}
                if base is not None and name != AUTOMATION:
                    pairs = ((found[one], base[one]) for one in found.keys() & base.keys())
                    both = Comparison.of(pairs)
                    row |= {"gained": both.only_first, "lost": both.only_second, "p": both.p}
            yield row

    def rates(self) -> dict[str, float]:
        """Read what sampling was measured at; nothing if it was not."""
        file = self.folder / SAMPLING_FILE
        found: dict[str, float] = orjson.loads(file.read_bytes()) if file.exists() else {}
        return found

    def proved(self, stage: str) -> dict[str, bool] | None:
        """Say which theorems a stage proved; ``None`` for one that measures nothing."""
        folder = self.folder / "bench" / stage
        return proved_by(AttemptFolder(folder).attempts(PROVER)) if folder.exists() else None


def projects() -> dict[str, str]:
    """Give the folders of the sample's projects."""
    return {SAMPLE_URLS[name]: str(sample_project_path(name)) for name in SAMPLE_PROJECTS}


def watched(words: list[str]) -> Spent:
    """Run ``lean-dojo``, and say what it and the processes that it starts take together.

    Raises:
        CalledProcessError: If it fails.
    """
    start, peak = time.monotonic(), 0
    processor: dict[int, float] = {}
    child = begun(words)
    root = psutil.Process(child.pid)
    while child.poll() is None:
        total = 0
        try:
            for one in (root, *root.children(recursive=True)):
                with one.oneshot():
                    total += one.memory_info().rss
                    used = one.cpu_times()
                    processor[one.pid] = used.user + used.system
        except psutil.Error:  # one of them has just ended
            total = 0
        peak = max(peak, total)
        time.sleep(0.5)
    if child.returncode:
        raise CalledProcessError(child.returncode, ["lean-dojo", *words])
    return Spent(round(time.monotonic() - start, 1), round(sum(processor.values()), 1), peak >> 20)


def model_folder(source: Path, target: Path) -> Path:
    """Give a model's folder; of a GGUF file, one that is made of it, once."""
    if source.suffix != ".gguf":
        return source
    if not (target / "tokenizer_config.json").exists():
        say(f"making an ordinary model of {source}")
        elsewhere(convert, source, target)
    return target


def elsewhere(fn: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a process of its own, whose memory is free when the stages run."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(fn, *args).result()


def sampling(model: Path, count: int) -> dict[str, float]:
    """Measure samples a second of the processor: ours, and plain ``generate``."""
    import torch

    from lean_dojo_plugins.api import CausalTacticGenerator

    database = DynamicDatabase(sample_database_path())
    theorems = chain.from_iterable(one.iter_theorems() for one in database.repositories)
    states = [step.state_before for one in theorems for step in one.traced_tactics[:1]]
    goals = states[:count]
    ours = CausalTacticGenerator(model, device="cpu")
    prompts = [ours.prompt_ids(goal, (), TACTIC_TOKENS) for goal in goals for _ in range(SAMPLES)]
    ours.tokenizer.padding_side = "left"
    batch: Any = ours.tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
    policy: Any = ours.model

    def plain() -> None:
        with torch.inference_mode():
            policy.generate(**batch, do_sample=True, top_k=0, max_new_tokens=TACTIC_TOKENS)

    def mine(words: Sequence[TacticWords] = ()) -> None:
        ours.generate(
            goals, SAMPLES, max_new_tokens=TACTIC_TOKENS, seed=0, merge=False, words=words
        )

    with Server() as lean:
        words = [lean.tactic_words()] * len(goals)
    ways: dict[str, Callable[[], None]] = {
        "plain generate": plain, "ours": mine, "ours, prose cut off": partial(mine, words),
    }  # fmt: skip
    return {name: _rate(way, len(prompts)) for name, way in ways.items()}


def _rate(sample: Callable[[], None], count: int) -> float:
    start = time.process_time()
    sample()
    return round(count / (time.process_time() - start), 2)


def convert(source: Path, target: Path) -> None:
    """Write the weights and the tokenizer of a GGUF file as an ordinary model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, options = source.parent, {"gguf_file": source.name}
    tokenizer: Any = AutoTokenizer.from_pretrained(place, **options)
    packed: Any = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **options)
    # transformers does not save a model that it has read from such a file.
    del packed.config.quantization_config
    plain = type(packed)(packed.config)
    plain.load_state_dict(packed.state_dict())
    plain.generation_config = packed.generation_config
    plain.save_pretrained(target)
    tokenizer.save_pretrained(target)


def table(rows: Sequence[Mapping[str, Any]], rates: Mapping[str, float]) -> str:
    """Write the report for people."""
    lines = [
        "| stage | proved | gained, lost against automation, p | minutes | processor | MB |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        proved = f"{row['proved']} of {row['tried']}" if "proved" in row else ""
        gain = f"+{row['gained']}, {row['lost']}, {row['p']:.2g}" if "gained" in row else ""
        lines.append(
            f"| {row['stage']} | {proved} | {gain} | {row['seconds'] / 60:.1f} "
            f"| {row['processor'] / 60:.1f} | {row['megabytes']:,} |"
        )
    if rates:
        said = ", ".join(f"{name} {rate}" for name, rate in rates.items())
        lines += ["", f"Tactics sampled a second of the processor before training: {said}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is not done, and report what is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", type=lambda text: Path(text).absolute())
    parser.add_argument("--theorems", type=int, default=60, help="that each prover tries")
    parser.add_argument("--lean-calls", type=int, default=32, help="for a theorem")
    parser.add_argument("--steps", type=int, default=30, help="of training, at each repository")
    parser.add_argument("--batch", type=int, default=4, help="examples of a pass; for memory")
    parser.add_argument("--grpo-steps", type=int, default=4, help="at each repository")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--limit", type=int, help="theorems and problems at most")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = claimed(parser)
    run = Pretrained(options)
    try:
        run.run()
    except CalledProcessError as error:
        say(f"stopped: {error}; the same command goes on behind the last finished stage")
        sys.exit(1)
    finally:
        rows, rates = list(run.rows()), run.rates()
        found = {"stages": rows, "samples a second": rates}
        atomic_write_text(run.folder / "report.md", table(rows, rates))
        text = orjson.dumps(found, option=orjson.OPT_INDENT_2)
        atomic_write_bytes(run.folder / "report.json", text)
    print(text.decode() if options.json else table(rows, rates))


if __name__ == "__main__":
    main()
