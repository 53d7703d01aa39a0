"""Make the shipped model: mine Lean's library, fine-tune, self-train, measure, write it down.

    python experiments/base_model.py [--output base-model] [--modules N] [--theorems 30]
                                    [--untried 60]
                                    [--steps 1200] [--rounds 1] [--round-steps 300] [--ship]
                                    [--benchmarks core-library sample] [--limit N] …

Every stage is a public command, or the miner of ``mining``; each goes on where it was
killed. ``--ship`` puts the model, its card and some of the proofs where the package takes them
from.

1. *mine*: theorems of Init and Std, each opened with what its module imports, are proved step by
   step; so are mutations of what was proved. Modules of the benchmark ``core-library`` and what
   states the same as a theorem of the sample are left out.
2. *model*: a tokenizer and a model of random weights.
3. *sft*, then *expert-iteration* over statements of the same modules that the miner left untried:
   the model searches them, with Lean's automation beside it, and goes on learning from what was
   proved and from the mined proofs.
4. *measure*: ``lean-dojo bench`` on ``core-library`` and on the sample.
5. *ship*: weights in half precision, a part of the mined proofs, and a card with what was done and
   measured.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import orjson

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_core.wording import counted
from lean_dojo_plugins.training.data import is_in_share
from lean_dojo_v2.benchmarks.core_library.benchmark import library_server, modules, write_problems
from lean_dojo_v2.benchmarks.statistics import Share
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text, read_lines
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.shipped import PROOFS
from mining.dataset import pairs, repository
from mining.miner import LIBRARY, UNTRIED, Mined, Miner
from mining.shape import sample_shapes, shape
from stages import claimed, command, say

SEED = 0
LIMITS = ["--samples", "16", "--expansions", "16", "--visits", "2", "--seed", str(SEED)]
"""What every model may spend on a theorem when it is measured."""
SELF_TRAINING = {"samples": 8, "expansions": 8, "heartbeats": 5000}
"""Limits of a search in self-training."""

SHIPPED = Path(__file__).resolve().parents[1] / "plugins" / "lean_dojo_plugins" / "base_model"
WEIGHTS = "model.safetensors"
MOST_BYTES = 12_000_000
PROOFS_SHARE = 1 / 16
"""Share of the mined proofs that ships: whoever trains the model further learns them again."""
CARD = """\
# The shipped model

A Llama of random weights that learned to prove from Lean's own library alone; made by
`make base-model`, seed {seed}. It writes the next tactic at a goal, for `lean-dojo prove`.

**Data.** {statements} theorems of {modules} modules of Init and Std (Lean 4.28), each opened
without itself in scope, and mutations of those that were proved. Proofs were found step by step:
goals taken apart by what they look like (introduction, cases, induction, constructors), and closed
by Lean's automation. {proved} theorems and {mutations} mutations were proved, each proof checked
as a whole: {proofs} proofs, {pairs} distinct pairs of state and tactic. Left out: the modules of
the benchmark `core-library`, and all that states the same as a theorem of the sample.
A sixteenth of the proofs is in `proofs.json`; `lean-dojo database import shipped` adds it to a
database, so that further training does not forget the library.

**Training.** From random weights: `sft`, {steps} steps of 16 examples with renamed
variables.{self_training}

**Measured** with `lean-dojo bench`: at most {samples} tactics at each of {expansions} states,
{heartbeats} heartbeats a tactic; 95 % intervals (Wilson). Where no prover is named, both prove
together: what automation tries is tried at every state, besides what the model writes.

| benchmark | this model | Lean's automation | either | the model alone | automation alone |
|---|---|---|---|---|---|
{table}

MIT, as the package; learned from Lean's library, which is Apache-2.0, as are the goals in
`proofs.json`.
"""


def mine(folder: Path, options: argparse.Namespace) -> list[Mined]:
    """Mine the modules that nobody measures with, and give the theorems that may be learned."""
    file = folder / "mined.jsonl"
    done = folder / "mined.done"
    if not done.exists():
        with library_server() as library:
            found = [one for one in modules(library) if not one.is_held_out]
        miner = Miner(
            file, theorems=options.theorems, untried=options.untried, engines=options.engines
        )
        for number, line in enumerate(miner.run(found, limit=options.modules), 1):
            say(f"mine {number}: {line}")
        done.touch()
    secret = sample_shapes()
    rows = (Mined.read(row) for row in read_lines(file))
    return [one for one in rows if one.statement and shape(one.statement) not in secret]


def write_data(folder: Path, mined: list[Mined]) -> None:
    """Write the database of proofs, the statements that were tried, and those for self-training."""
    database = folder / "database.json"
    if not database.exists():
        DynamicDatabase(database).add_repository(repository(mined, f"{datetime.now(UTC):%F}"))
    for kind, name in ((LIBRARY, "statements.jsonl"), (UNTRIED, "problems.jsonl")):
        if not (folder / name).exists():
            write_problems(
                (
                    BenchmarkProblem(
                        full_name=one.name, statement=one.statement, header=one.header,
                        split="train",
                    )
                    for one in mined
                    if one.kind == kind
                ),
                folder / name,
            )  # fmt: skip


def build(folder: Path, mined: list[Mined], options: argparse.Namespace) -> Path:
    """Make the model that nothing has been learned by."""
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    model = folder / "untrained"
    if not (model / "model.safetensors").exists():
        texts = [text for pair in sorted(pairs(mined)) for text in pair]
        build_tiny_model(
            texts, model, seed=SEED, vocab_size=options.vocabulary, hidden_size=options.width,
            layers=options.layers,
        )  # fmt: skip
    return model


def train(folder: Path, model: Path, options: argparse.Namespace) -> Path:
    """Fine-tune, then self-train; give the last model's folder."""
    sft = folder / "sft"
    _train(folder, "sft", {"model_name": model, "lr": options.lr}, options.steps)
    if not options.rounds:
        return sft
    given = {
        "model_name": sft, "lr": options.round_lr, "rounds": options.rounds,
        "problems": json.dumps([str(folder / "problems.jsonl")]), "engines": options.engines,
        "problems_per_round": options.problems, "automation": "true", **SELF_TRAINING,
    }  # fmt: skip
    return _train(folder, "expert-iteration", given, options.round_steps)


def _train(folder: Path, trainer: str, given: dict[str, object], steps: int) -> Path:
    """Train once, on the mined proofs at least; give the model's folder."""
    model = folder / trainer
    settings = {
        "batch_size": 16, "max_length": 512, "seed": SEED, "prompt_weight": 0.25,
        "report_to": "none", "output_dir": model, "trainer_args.optim": "muon",
        "trainer_args.weight_decay": 0.1, "trainer_args.max_steps": steps,
        "trainer_args.warmup_steps": 0.05, "trainer_args.logging_steps": 20,
        "trainer_args.save_steps": 200, **given,
    }  # fmt: skip
    command(
        "train", trainer, "--database", folder / "database.json",
        "--data-path", folder / f"{trainer}-data", "--formatter", "tactic-chat-renamed",
        *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")),
        done=folder / f"{trainer}.done",
    )  # fmt: skip
    return model


def measure(folder: Path, model: Path, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure a model on each benchmark; Lean's automation alone is measured beside it."""
    found = {}
    for benchmark in options.benchmarks:
        run = folder / "bench" / f"{benchmark}-{model.name}"
        limit = ["-n", str(options.limit)] if options.limit else []
        command(
            "bench", benchmark, "--model", model, *LIMITS, *limit, "-j", str(options.engines),
            "-o", run, done=run.with_suffix(".done"),
        )  # fmt: skip
        found[benchmark] = figures_of(orjson.loads((run / "report.json").read_bytes()))
    return found


def facts(mined: list[Mined], options: argparse.Namespace) -> dict[str, object]:
    """Say what the data are."""
    stated = Counter(one.kind for one in mined)
    kinds = Counter(one.kind for one in mined if one.proofs)
    return {
        "modules": len({one.module for one in mined if one.kind == LIBRARY}),
        "statements": stated[LIBRARY],
        "proved": kinds[LIBRARY],
        "mutations": sum(kinds.values()) - kinds[LIBRARY],
        "proofs": sum(len(one.proofs) for one in mined),
        "pairs": len(pairs(mined)),
        "steps": options.steps,
        "rounds": options.rounds,
        "untried": stated[UNTRIED],
        "searched": min(options.rounds * options.problems, stated[UNTRIED]),  # new ones first
        "round_steps": options.round_steps if options.rounds else 0,
        "seed": SEED,
    }


def figures_of(report: Mapping[str, Any]) -> dict[str, object]:
    """Give what a card says of a benchmark run."""
    search = ProverConfig(**report["request"]["search"])
    model, automation = (report[who]["proved"] for who in ("prover", "automation"))
    either = Share.of(model["proved"] + len(report["missed"]), model["tried"])
    return {
        "model": model,
        "automation": automation,
        "either": attrs.asdict(either),
        "beyond automation": len(report["beyond"]),
        "automation alone": len(report["missed"]),
        "limits": {
            "samples": search.num_sampled_tactics,
            "expansions": search.max_expansions,
            "heartbeats": search.heartbeats,
            "seconds": search.timeout,
        },
    }


def card(figures: Mapping[str, Any]) -> str:
    """Write the model card."""
    data = figures["data"]
    rows = [
        f"| `{name}` | {' | '.join(_share(one[who]) for who in ('model', 'automation', 'either'))} "
        f"| {one['beyond automation']} | {one['automation alone']} |"
        for name, one in figures["benchmarks"].items()
    ]
    limits = next(iter(figures["benchmarks"].values()))["limits"]
    return CARD.format(
        **data,
        **limits,
        table="\n".join(rows),
        self_training=""
        if not data["rounds"]
        else f" Then {counted(data['rounds'], 'round', 'rounds')} of `expert-iteration`, with "
        f"{data['round_steps']} steps in each: the model and Lean's automation beside it tried "
        f"{data['searched']} of {data['untried']} other statements of these modules and proved "
        f"{data['round_proved']}.",
    )


def _share(share: Mapping[str, Any]) -> str:
    return (
        f"{share['proved']} of {share['tried']} "
        f"({100 * share['low']:.0f} to {100 * share['high']:.0f} %)"
    )


def ship_proofs(database: Path, target: Path) -> None:
    """Write a share of the mined proofs; without statements, since they open in no project."""
    [library] = DynamicDatabase(database).repositories
    proven = [
        attrs.evolve(one, theorem_statement=None)
        for one in library.proven_theorems
        if is_in_share(one, PROOFS_SHARE)
    ]
    files = sorted({one.file_path for one in proven})
    some = attrs.evolve(library, proven_theorems=proven, files_traced=files)
    with TemporaryDirectory() as place:  # not in the package, where its lock file would stay
        made = Path(place, PROOFS)
        DynamicDatabase(made).add_repository(some)
        atomic_write_bytes(target, made.read_bytes())


def ship(model: Path, text: str, database: Path, target: Path) -> None:
    """Put the model in half precision, and its card, where the package takes them from."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from lean_dojo_plugins.training.run_folder import RunFolder, RunState

    trained = RunFolder(model).load()
    assert trained is not None
    settings = {name: trained.settings[name] for name in ("max_length", "seed")}
    settings["formatter"] = "tactic-chat"  # whose prompt is that of the training
    target.mkdir(parents=True, exist_ok=True)
    (target / WEIGHTS).unlink(missing_ok=True)  # without them the folder is no model
    RunFolder(target).save(RunState(trained.trainer, settings, trained.finished))
    AutoTokenizer.from_pretrained(model).save_pretrained(target)
    atomic_write_text(target / "README.md", text)
    ship_proofs(database, target / PROOFS)
    made = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float16)
    made.save_pretrained(target)
    (target / WEIGHTS).chmod(0o644)  # safetensors makes files that only their owner may read
    size = sum(file.stat().st_size for file in target.iterdir())
    say(f"{target}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        (target / WEIGHTS).unlink()
        raise SystemExit(f"{size} bytes are too many for the package: at most {MOST_BYTES}")


def main() -> None:
    """Run every stage that is not done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", dest="folder", type=Path, default=Path("base-model"))
    parser.add_argument("--modules", type=int, help="mine so many modules at most")
    parser.add_argument("--theorems", type=int, default=30, help="theorems of a module at most")
    parser.add_argument(
        "--untried", type=int, default=60, help="further theorems of a module, for self-training"
    )
    parser.add_argument("--steps", type=int, default=1200, help="optimiser steps of sft")
    parser.add_argument("--lr", type=float, default=1.5e-3, help="of sft")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of expert iteration")
    parser.add_argument("--problems", type=int, default=1000, help="problems of a round")
    parser.add_argument("--round-steps", type=int, default=300, help="steps of each round")
    parser.add_argument("--round-lr", type=float, default=1e-3, help="of each round")
    parser.add_argument("--limit", type=int, help="theorems of a benchmark at most")
    parser.add_argument("--benchmarks", nargs="+", default=["core-library", "sample"])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument(
        "--ship", type=Path, nargs="?", const=SHIPPED, metavar="DIR",
        help="put the model and some of its proofs into this folder, or into the package",
    )  # fmt: skip
    options = claimed(parser)
    folder = options.folder
    mined = mine(folder, options)
    found = facts(mined, options)
    if options.rounds and not found["untried"]:
        raise SystemExit(
            f"{folder / 'mined.jsonl'} holds no untried statement; use another --output, "
            "or --rounds 0"
        )
    say(f"data: {json.dumps(found)}")
    write_data(folder, mined)
    model = train(folder, build(folder, mined, options), options)
    if options.rounds:
        *_, last = read_lines(model / "rounds.jsonl")
        found["round_proved"] = last["proved_so_far"]
    figures = {"data": found, "benchmarks": measure(folder, model, options)}
    atomic_write_bytes(folder / "figures.json", orjson.dumps(figures, option=orjson.OPT_INDENT_2))
    print(card(figures))
    if options.ship:
        ship(model, card(figures), folder / "database.json", options.ship)


if __name__ == "__main__":
    main()
