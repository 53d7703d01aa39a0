"""The demo: the whole pipeline in public commands.

The shipped model proves a goal; the sample is traced; the model learns some of its proofs, then
searches for proofs of other statements and learns those it finds. Held-out theorems are tried by
Lean's own automation alone and, after each stage, by the model with automation beside it; every
prover may spend the same number of Lean calls on a theorem. Each command is printed before it runs.
A killed demo resumes where it was, as each of its commands does.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs
import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_core.foreign import say
from lean_dojo_v2 import benchmarks
from lean_dojo_v2.files import RAID_VARIABLE, atomic_write_bytes, safe_name
from lean_dojo_v2.lean import EngineUnavailableError
from lean_dojo_v2.prover import SHIPPED, shipped_model
from lean_dojo_v2.runs import COLOURS, new_figure, save_figure
from lean_dojo_v2.sample import SAMPLE_URLS, sample_project_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOAL = "∀ p q : Prop, p ∧ q → q ∧ p"
SUMMARY_FILE, CHART_FILE = "summary.json", "ladder.svg"
MARK_FILE = ".demo.json"
"""Records which demo a folder holds, so that only that one resumes."""
SFT, EXPERT = "sft", "expert-iteration"
"""The trained models, named after their trainers."""
TREES = 3
"""Number of search trees kept: the largest with a proof."""


@attrs.frozen(kw_only=True)
class DemoSettings:
    """Sizes of the demo."""

    theorems: int = 60  # held-out ones that every prover tries, chosen by a hash of their names
    lean_calls: int = 32  # that a prover may spend on each of them
    samples: int = 8  # tactics sampled per state
    expansions: int = 6  # states expanded per problem in self-training
    visits: int = 2  # how often a state may be expanded in self-training
    human_share: float = 0.5  # of the training theorems, whose human proofs are learned
    problems: int = 80  # statements to search in self-training
    steps: int = 80  # of the optimiser, in each training
    batch: int = 16
    lr: float = 2e-3
    engines: int = 2
    seed: int = 0

    @classmethod
    def quick(cls) -> Self:
        """Return sizes that run every stage in two minutes, with little gain."""
        return cls(theorems=12, lean_calls=32, expansions=4, problems=20, steps=20, engines=1)


@attrs.frozen
class DemoStage:
    """One prover's results on the held-out theorems: its share proved, and seconds of search.

    All but the first are models with automation beside them; ``gain`` compares them with it alone.
    """

    stage: str
    share: benchmarks.Share
    seconds: float
    gain: benchmarks.Comparison | None = None

    @property
    def headline(self) -> str:
        """Describe what the model adds to automation."""
        assert self.gain is not None
        return (
            f"{self.stage} adds to automation: {self.gain.only_first} theorems gained, "
            f"{self.gain.only_second} lost ({self.gain.gain})"
        )

    def row(self) -> dict[str, Any]:
        """Return it as a row of the report."""
        return {
            "stage": self.stage,
            "proved": {"held-out": self.share.proved},
            "tried": {"held-out": self.share.tried},
            "low": round(self.share.low, 4),
            "high": round(self.share.high, 4),
            "seconds": round(self.seconds, 1),
            "gain": None if self.gain is None else attrs.asdict(self.gain),
        }


@attrs.define
class Demo:
    """Runs the demo, and records the seconds of each stage."""

    output_dir: Path
    settings: DemoSettings
    seconds: dict[str, float] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.output_dir = self.output_dir.absolute()  # trainers identify models by path

    @property
    def database(self) -> Path:
        """The traced sample."""
        return self.output_dir / "database.json"

    def run(self) -> list[DemoStage]:
        """Run all stages, and return what each prover proved."""
        if shipped_model() is None:
            raise UsageError(
                "this package contains no model; reinstall it, or run `make base-model` in the "
                "source folder"
            )
        self._claim_folder()
        os.environ[RAID_VARIABLE] = str(self.output_dir / "raid")
        with self._stage("Lean", "Lean: an embedded engine, installed once per machine"):
            self._install()
        with benchmarks.engines_kept():
            with self._stage("first proof", "A first proof, by the shipped model"):
                self._command("prove", "--goal", GOAL)
            with self._stage("trace", "Trace a small Lean project with real Lean"):
                self._trace()
            with self._stage("automation", "What Lean's own automation proves"):
                self._measure(benchmarks.AUTOMATION, "--prover", benchmarks.AUTOMATION)
            with self._stage("prove", "What the shipped model adds to it"):
                self._measure(SHIPPED, "--model", SHIPPED)
            with self._stage("sft", f"Learn {self.settings.human_share:.0%} of the proofs"):
                self._train(SFT)
            with self._stage("prove sft", "What it adds after sft"):
                self._measure(SFT, "--model", self.output_dir / SFT)
            with self._stage("self-training", "Search for further proofs, and learn those"):
                self._self_train()
            with self._stage("prove self-training", "What it adds after self-training"):
                trees = ("--save-tree", self._bench(EXPERT) / "trees")
                self._measure(EXPERT, "--model", self.output_dir / EXPERT, *trees)
        self._keep_largest_trees()
        return self._summarise()

    def _claim_folder(self) -> None:
        """Record the demo's settings in the folder; refuse the folder of another demo."""
        mark = self.output_dir / MARK_FILE
        mine = orjson.dumps({**attrs.asdict(self.settings), "folder": str(self.output_dir)})
        if not mark.exists() and not self.database.exists():
            atomic_write_bytes(mark, mine)
        elif not mark.exists() or mark.read_bytes() != mine:
            raise UsageError(
                f"{self.output_dir} holds a demo with other settings or from another place; delete "
                "it, or choose another folder with --output-dir"
            )

    def _install(self) -> None:
        """Install Lean in another process, while this one imports what the model needs."""
        words = ["lean", "install"]
        say(f"$ lean-dojo {shlex.join(words)}")
        argv = [sys.executable, "-m", "lean_dojo_v2", *words]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as installing:
            import_module("lean_dojo_plugins.causal_lm.generate.generator")
        if installing.returncode != 0:
            raise EngineUnavailableError("Lean could not be installed; see the message above")

    def _trace(self) -> None:
        if self.database.exists():  # written atomically
            return
        project = self.output_dir / "project"
        if not project.exists():
            shutil.copytree(sample_project_path(), project)
        self._command(
            "trace", project, "--url", SAMPLE_URLS["sample"], "-o", self.database,
            "-j", self.settings.engines,
        )  # fmt: skip

    def _bench(self, stage: str) -> Path:
        return self.output_dir / "bench" / stage

    def _measure(self, stage: str, *who: object) -> None:
        """Let a prover try the held-out theorems until its Lean calls are spent.

        Automation tries all its tactics at every state; a model samples repeatedly, beside it.
        """
        sizes = self.settings
        how: tuple[object, ...] = ("--samples", 64)
        if stage != benchmarks.AUTOMATION:
            how = (
                "--prover-set", "automation=true", "--samples", sizes.samples,
                "--visits", sizes.lean_calls, "--no-automation",
                "--compare", self._bench(benchmarks.AUTOMATION),
            )  # fmt: skip
        self._command(
            "bench", "held-out", *who, "--database", self.database, "-n", sizes.theorems,
            "--lean-calls", sizes.lean_calls, *how, "--seed", sizes.seed, "-j", sizes.engines,
            "-o", self._bench(stage),
        )  # fmt: skip

    def _train(self, trainer: str, **more: object) -> None:
        sizes = self.settings
        given = {
            "model_name": SHIPPED, "output_dir": self.output_dir / trainer, "seed": sizes.seed,
            "human_share": sizes.human_share, "batch_size": sizes.batch, "lr": sizes.lr,
            "max_length": 512, "prompt_weight": 0.25, "report_to": "none",
            "trainer_args.optim": "muon", "trainer_args.weight_decay": 0.1,
            "trainer_args.warmup_steps": 0.05, "trainer_args.max_steps": sizes.steps,
            "trainer_args.save_steps": 25, "trainer_args.logging_steps": 5,
            **more,
        }  # fmt: skip
        self._command(
            "train", trainer, "--database", self.database,
            "--data-path", self.output_dir / "data" / trainer,
            *(word for key, value in given.items() for word in ("--set", f"{key}={value}")),
        )  # fmt: skip

    def _self_train(self) -> None:
        sizes = self.settings
        self._train(
            EXPERT, search_model=self.output_dir / SFT, problems='["hidden"]', rounds=1,
            problems_per_round=sizes.problems, samples=sizes.samples,
            expansions=sizes.expansions, visits=sizes.visits, engines=sizes.engines,
        )  # fmt: skip

    def _command(self, *words: object) -> None:
        """Print a command as one would type it, and run it in this process."""
        from lean_dojo_v2.cli import cli

        typed = [str(word) for word in words]
        say(f"$ lean-dojo {shlex.join(typed)}")
        cli.main(typed, prog_name="lean-dojo", standalone_mode=False)

    def _keep_largest_trees(self) -> None:
        folder = self._bench(EXPERT) / "trees"
        tried = benchmarks.AttemptFolder(folder.parent).attempts(benchmarks.PROVER)
        proved = {safe_name(one.name) for one in tried if one.success}
        proofs = [file for file in folder.rglob("*.json") if file.stem in proved]
        kept = sorted(proofs, key=lambda file: -file.stat().st_size)[:TREES]
        for file in folder.rglob("*"):
            if file.is_file() and file.with_suffix(".json") not in kept:
                file.unlink()

    def _summarise(self) -> list[DemoStage]:
        found = []
        alone = benchmarks.AttemptFolder(self._bench(benchmarks.AUTOMATION))
        for stage in (benchmarks.AUTOMATION, SHIPPED, SFT, EXPERT):
            run = benchmarks.AttemptFolder(self._bench(stage))
            report = benchmarks.read_report(run, None if stage == benchmarks.AUTOMATION else alone)
            gain = None if report.compared is None else report.compared.counts
            found.append(DemoStage(stage, report.prover.proved, report.prover.seconds, gain))
        data = {
            "stages": [stage.row() for stage in found],
            "seconds": self.seconds,
            "settings": attrs.asdict(self.settings),
        }
        content = orjson.dumps(data, option=orjson.OPT_INDENT_2)
        atomic_write_bytes(self.output_dir / SUMMARY_FILE, content)
        save_figure(draw(found, self.settings.lean_calls), self.output_dir / CHART_FILE)
        return found

    @contextmanager
    def _stage(self, name: str, title: str) -> Iterator[None]:
        start = time.monotonic()
        say(f"\n== {title}")
        yield
        self.seconds[name] = round(time.monotonic() - start, 1)
        say(f"   ({self.seconds[name]:.0f} s)")


def draw(stages: Sequence[DemoStage], lean_calls: int) -> "Figure":
    """Draw a bar for each prover, with the 95 % interval of its share and what it gained."""
    figure, axes = new_figure(8, 2.6)
    tried = max((stage.share.tried for stage in stages), default=0)
    for place, (stage, colour) in enumerate(zip(stages, COLOURS, strict=False)):
        proved, of = stage.share.proved, stage.share.tried
        ends = [[proved - stage.share.low * of], [stage.share.high * of - proved]]
        axes.barh(place, proved, color=colour, height=0.62, alpha=0.85)
        axes.errorbar(proved, place, xerr=ends, color="black", capsize=4, linewidth=1.2)
        axes.annotate(f" {proved}", (0, place), va="center", color="white", fontweight="bold")
        if (gain := stage.gain) is not None:
            told = f"+{gain.only_first} −{gain.only_second}, p = {gain.p:.2g}"
            axes.annotate(told, (tried, place), va="center", ha="right", fontsize="small")
    names = [stage.stage if stage.gain is None else f"with {stage.stage}" for stage in stages]
    axes.set_yticks(range(len(stages)), names)
    axes.invert_yaxis()
    title = f"Held-out theorems proved, of {tried}, at {lean_calls} Lean calls each"
    axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    axes.set_xlim(0, max(tried, 1))
    axes.locator_params(axis="x", integer=True)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
