"""``lean-dojo bench``: measure a prover on a benchmark."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
import orjson

from lean_dojo_core import BenchmarkProblem, UsageError
from lean_dojo_core.wording import counted
from lean_dojo_v2 import benchmarks, kinds, prover, runs
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.cli.provers import DEFAULT, ClusterChoice
from lean_dojo_v2.cli.proving import SearchOptions, refuse_unheeded, save_tree_option, set_up_search
from lean_dojo_v2.files import atomic_write_bytes, safe_name
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.settings import Settings, construct, parse_assignment

_OF_SAMPLES = {"temperature", "seed"}
"""Settings of a search that shape whole proofs, too."""
_OF_AUTOMATION = {"timeout", "max_expansions", "lean_calls", "heartbeats"}
"""Settings of a search that limit automation's, which is tried beside every prover."""


@attrs.frozen
class BenchOptions:
    """Options of the run itself."""

    database: Path | None = args.database_option(default=None)
    limit: int | None = args.option(
        "-n",
        "--limit",
        **args.NUMBER,
        help="Take at most this many theorems, chosen by a hash of their names.",
    )
    attempts: int = args.option(
        **args.NUMBER,
        default=1,
        help="Attempts per theorem, with the seeds SEED, SEED+1, … (for pass@k).",
    )
    whole_proof: bool = args.option(
        is_flag=True,
        help="Let the model write each proof in one go instead of searching, one per attempt.",
    )
    output: Path | None = args.option(
        "-o",
        "--output",
        **args.NEW_FOLDER,
        help="Folder of the run (default: named after benchmark and prover, in bench/).",
    )
    compare: Path | None = args.option(
        metavar="RUN",
        type=args.EXISTING_FOLDER,
        help="Compare with the run in this folder, theorem by theorem.",
    )
    automation: bool = args.option(
        "--automation/--no-automation",
        default=True,
        show_default=False,
        help="Also try Lean's own automation alone (default: yes).",
    )
    save_tree: Path | None = save_tree_option
    as_json: bool = args.shared(json_option, False)


@click.command()
@args.with_options
@long_command()
def bench(
    benchmark: str = args.argument(default="sample", shell_complete=args.complete_benchmark),
    assignments: tuple[str, ...] = args.set_option,
    choice: ClusterChoice = args.group(ClusterChoice),
    search: SearchOptions = args.group(SearchOptions),
    asked: BenchOptions = args.group(BenchOptions),
) -> None:
    """Measure how many theorems of a BENCHMARK a prover proves.

    BENCHMARK is the name of a benchmark (`lean-dojo plugins` lists them; `sample` if not given), a
    JSONL file in the form of miniF2F or another public set, or `hub:OWNER/NAME`, a data set of
    the Hugging Face hub. `--set` sets the benchmark's own settings, such as split=val.

    Lean verifies every proof in full. Budgets are counted, not timed, so the same seed gives the
    same proofs on machines of the same kind. To resume a killed run, repeat the command.
    """
    set_up_search(search)
    if asked.whole_proof:
        beside = asked.automation and choice.name != DEFAULT
        refuse_unheeded(search, _OF_SAMPLES | (_OF_AUTOMATION if beside else set()))
    if asked.compare is not None:
        benchmarks.AttemptFolder(asked.compare).request()  # report mistakes before anything runs
    name, problems, settings = _problems(benchmark, assignments, asked.database)
    problems = _chosen(problems, asked.limit)
    choice.resolved()  # the same
    if choice.default_notice:
        note(choice.default_notice)
    default = Path("bench") / safe_name(f"{name}-{choice.label}")
    folder = benchmarks.AttemptFolder(asked.output or default)
    folder.begin(
        {
            "benchmark": {"name": name, **settings, "theorems": _digest(problems)},
            "prover": choice.described(),
            "search": search.shaping(),
            **({"whole_proof": True} if asked.whole_proof else {}),
            "progress_model": os.environ.get(prover.PROGRESS_VARIABLE) or None,
        }
    )
    _run(folder, problems, choice, search, asked)
    _tell(folder, asked)


def _problems(
    benchmark: str, assignments: Sequence[str], database: Path | None
) -> tuple[str, list[BenchmarkProblem], dict[str, Any]]:
    settings = Settings()
    for text in assignments:
        settings.update(parse_assignment(text))
    if database is not None:
        settings.put("database", str(database), "--database")
    kind, meant = benchmarks.benchmark_named(benchmark)
    for key, value in meant.items():
        settings.put(key, value, "BENCHMARK")
    entry = kinds.benchmarks[kind]
    made = construct(entry.load(), settings, owner=f"benchmark {entry.name!r}")
    problems = list(made.problems())
    if not problems:
        raise UsageError(f"benchmark {made.name!r} has no theorems")
    plain = {key: str(value) for key, value in sorted(settings.values.items())}
    return made.name, problems, plain


def _chosen(problems: list[BenchmarkProblem], limit: int | None) -> list[BenchmarkProblem]:
    """Choose a fixed subset of the theorems, in the benchmark's order."""
    if limit is None or limit >= len(problems):
        return problems
    by_hash = sorted(problems, key=lambda p: hashlib.sha256(p.full_name.encode()).digest())
    kept = {problem.full_name for problem in by_hash[:limit]}
    return [problem for problem in problems if problem.full_name in kept]


def _digest(problems: Sequence[BenchmarkProblem]) -> str:
    digest = hashlib.sha256()
    for problem in problems:
        digest.update(f"{problem.full_name}\0{problem.header}\0{problem.statement}\0".encode())
    return f"{len(problems)}, {digest.hexdigest()[:16]}"


def _run(
    folder: benchmarks.AttemptFolder,
    problems: Sequence[BenchmarkProblem],
    choice: ClusterChoice,
    search: SearchOptions,
    asked: BenchOptions,
) -> None:
    engines = benchmarks.engines_for(search.num_workers, len(problems), search.batch_size)
    bench = benchmarks.Bench(
        problems, folder, workers=engines, remote=choice.ray, tree_dir=asked.save_tree
    )
    config = search.config()
    who, automation = benchmarks.PROVER, benchmarks.AUTOMATION
    if bench.left(who, asked.attempts):
        make = _factory(choice.make, config)
        if asked.whole_proof:
            make = prover.sampling_whole_proofs(make)
        bench.run(who, make, attempts=asked.attempts, seed=config.seed, label=choice.label)
    if asked.automation and choice.name != automation and bench.left(automation, 1):
        # It proposes the same few tactics everywhere and tries them all; as a baseline, it is not
        # guided.
        everything = attrs.evolve(
            config,
            num_sampled_tactics=64,
            visits=1,
            temperature=None,
            length_exponent=0.0,
            progress_weight=0.0,
        )
        make = _factory(ClusterChoice(prover=automation, ray=choice.ray).make, everything)
        bench.run(automation, make, seed=config.seed, label=automation)


def _factory(make: Callable[[ProverConfig], Any], config: ProverConfig) -> Callable[[int], Any]:
    """Return a factory of provers by seed; a searching prover loads its model once."""
    made: list[Any] = []

    def with_seed(seed: int) -> Any:
        if made and isinstance(made[0], (prover.BaseProver, prover.ClusterProver)):
            made[0].settings = attrs.evolve(made[0].settings, seed=seed)
            return made[0]
        made[:] = [make(attrs.evolve(config, seed=seed))]
        return made[0]

    return with_seed


def _tell(folder: benchmarks.AttemptFolder, asked: BenchOptions) -> None:
    other = None if asked.compare is None else benchmarks.AttemptFolder(asked.compare)
    report = benchmarks.read_report(folder, other)
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    content = orjson.dumps(attrs.asdict(report), option=options)
    atomic_write_bytes(folder.path / "report.json", content)
    lines = {report.request["prover"].get("label", benchmarks.PROVER): report.prover}
    if report.automation is not None:
        lines["automation alone"] = report.automation
    curve = folder.path / benchmarks.CURVE
    runs.save_figure(benchmarks.draw_summary(lines), curve)
    if asked.as_json:
        emit_json(orjson.loads(content))
        return
    for line in _lines(report):
        click.echo(line)
    click.echo(f"curve: {curve}; attempts: {folder.path / f'{benchmarks.PROVER}.jsonl'}")


def _lines(report: benchmarks.Report) -> list[str]:
    search, mine = ProverConfig(**report.request["search"]), report.prover
    asked = report.request["prover"]
    with_automation = asked.get("automation") or "automation=true" in asked.get(
        "prover_settings", ()
    )
    beside = ", and automation's tactics," if with_automation else ""
    name = report.request["benchmark"]["name"]
    states = "state" if search.max_expansions is None else f"of {search.max_expansions} states"
    calls = "" if search.lean_calls is None else f", {search.lean_calls} Lean calls a theorem"
    heading = (
        f"{name}: {counted(mine.attempts, 'proof')} written for each theorem"
        if report.request.get("whole_proof")
        else f"{name}: at most {search.num_sampled_tactics} samples{beside} "
        f"at each {states}, {search.heartbeats} heartbeats a tactic{calls}"
    )
    lines = [heading, f"proved {mine.proved}"]
    lines += [f"  {name}: {share}" for name, share in mine.groups.items()]
    if mine.attempts > 1:
        lines.append(f"{mine.attempts} attempts each, with 95 % intervals:")
        lines += [f"  pass@{k} {value}" for k, value in mine.pass_at.items()]
    if report.automation is not None:
        lines.append(f"automation alone {report.automation.proved}")
        lines.append(
            f"beyond automation: {counted(len(report.beyond), 'theorem')}; "
            f"automation alone proves {len(report.missed)} that are not among these"
        )
    lines.append(
        f"refused proofs {mine.refused_proofs}, Lean calls {mine.lean_calls}, samples "
        f"{mine.samples}, expansions {mine.expansions}"
    )
    lines += _warnings(mine)
    if report.automation is not None:
        lines += [f"automation alone: {line}" for line in _warnings(report.automation)]
    if report.compared is not None:
        lines += _comparison(report.compared)
    return lines


def _warnings(summary: benchmarks.Summary) -> list[str]:
    lines = []
    if names := summary.ended_by_clock:
        where = counted(len(names), "theorem")
        lines.append(f"a time limit, instead of a count, ended work on {where}: {', '.join(names)}")
    if failed := summary.cannot_open:
        where = counted(len(failed), "theorem")
        name, why = next(iter(failed.items()))
        example = f"{name}: {why.partition(chr(10))[0]}"
        lines.append(f"Lean cannot open {where}, counted as not proved, such as {example}")
    if names := summary.not_counted:
        lines.append(
            "not counted, because an engine or the model failed (repeat the command to try again): "
            + ", ".join(names)
        )
    return lines


def _comparison(compared: benchmarks.Compared) -> list[str]:
    counts = compared.counts
    theorems = counted(compared.theorems, "theorem")
    attempts = counted(compared.attempts, "attempt")
    lines = [
        f"compared with {compared.run}, on {theorems} with {attempts} each:",
        (
            f"  both {counts.both}, only here {counts.only_first}, only there "
            f"{counts.only_second}: {counts.gain} (exact paired test)"
        ),
    ]
    if compared.differences:
        lines.append(f"  settings that differ there: {', '.join(compared.differences)}")
    return lines
