"""The rounds of a run: each searches, then exports the training data found so far.

Every process searches its share of a round's problems and appends to the same files. Results do not
depend on which process finds them, since a search's seeds follow from its theorem.

To the training loop a round is a stage of the curriculum, as a repository is. So checkpoints, logs
and resuming work as in every trainer.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core import formats_whole_proofs
from lean_dojo_core.records import BenchmarkProblem, Theorem
from lean_dojo_core.wording import counted
from lean_dojo_plugins import training
from lean_dojo_plugins.causal_lm import served_here
from lean_dojo_plugins.expert_iteration import proofs
from lean_dojo_plugins.expert_iteration.problems import ProblemSet, choose
from lean_dojo_plugins.expert_iteration.searching import BATCH, SearchingTrainer
from lean_dojo_v2 import files
from lean_dojo_v2.agent import ProofLog, ProvedTheorem
from lean_dojo_v2.benchmarks import AttemptFolder, Bench, engines_for
from lean_dojo_v2.data import NotInDatabaseError, Repository
from lean_dojo_v2.database import DynamicDatabase, read_theorems, write_theorems
from lean_dojo_v2.prover import SearchResult, sampling_whole_proofs
from lean_dojo_v2.runs import processes_here

PROOFS, NEGATIVES, ROUNDS = "proofs.jsonl", "negatives.jsonl", "rounds.jsonl"
WHO = "prover"
"""Name of the file of attempts in a round's folder."""


@attrs.define(slots=False, eq=False)
class Rounds:
    """Searches, and exports the proofs found: a source of training data, of a stage for each round.

    The database itself records proofs of ``sorry`` theorems; human data goes to ``data_path``.
    """

    trainer: SearchingTrainer
    repositories: Sequence[Repository]
    database: DynamicDatabase | None
    data_path: Path
    problem_set: ProblemSet
    index: int = 0
    """Number of this process among ``count``, which share the problems."""
    count: int = 1

    def __attrs_post_init__(self) -> None:
        self.folder = Path(self.trainer.output_dir).absolute()
        self.proofs = self.folder / PROOFS
        self._unproved = {
            theorem.identity
            for repository in self.repositories
            for theorem in repository.sorry_theorems_unproved
        }
        self._exported = False
        self._tried = 0

    def begin(self) -> None:
        """Record the run's settings, or check that they are those of the run to resume."""
        file = self.folder / "rounds" / "run.json"
        if not self.trainer.resume:
            shutil.rmtree(self.folder / "rounds", ignore_errors=True)
            for name in (PROOFS, NEGATIVES, ROUNDS):
                (self.folder / name).unlink(missing_ok=True)
        mine = {**self.trainer.settings(), "problem set": self.problem_set.digest}
        kind = type(self.trainer)
        if file.exists():
            before = training.RunState(kind.__name__, json.loads(file.read_text()))
            training.check_same_run(before, kind, mine, self.folder)
        else:
            if self.trainer.resume:
                self.trainer.run_state()  # refuses the run of another trainer
            files.atomic_write_text(file, json.dumps(mine, indent=2) + "\n")
        if self.problem_set.statements is not None:
            self.problem_set.statements.say()
            _ = self._problems  # one process checks, the others read its results
        if out := len(self.problem_set.left_out):
            training.say(
                f"{counted(len(self.problem_set.problems), 'problem', 'problems')}; "
                f"{counted(out, 'theorem', 'theorems')} left out: held out, or stating the same as "
                "a held-out theorem"
            )

    @cached_property
    def _problems(self) -> Sequence[BenchmarkProblem]:
        """The problems; of a set of statements, those that Lean elaborates."""
        found = self.problem_set.statements
        if found is None:
            return self.problem_set.problems
        return found.elaborated(self.folder, quiet=self.index > 0).problems

    @property
    def stages(self) -> list[training.Stage]:
        """The rounds, each with the problems' digest."""
        digest, numbers = self.problem_set.digest, range(1, self.trainer.rounds + 1)
        return [training.Stage(f"round-{number}", digest) for number in numbers]

    def export(self, stages: int, folder: Path) -> None:
        """Log the results of the last of these rounds, and write the training data."""
        proofs.sort_rows(self.proofs, "round", "problem", "proof")
        proofs.sort_rows(self.folder / NEGATIVES, "round", "problem")
        self._note(stages)
        self._write_data(stages, folder)

    def search(self, step: training.CurriculumStep) -> None:
        """Search the rest of this process's share of a round's problems."""
        number, trainer = step.index + 1, self.trainer
        past = [self._attempts(before).attempts(WHO) for before in range(1, number)]
        everything = choose(
            self._problems, past, skip_after=trainer.skip_after, limit=trainer.problems_per_round
        )
        self._tried = len(everything)
        problems = everything[self.index :: self.count]
        attempts = self._attempts(number)
        attempts.path.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            problems,
            attempts,
            workers=engines_for(trainer.engines, len(problems), BATCH, processes_here(self.count)),
            server=trainer.open_engine,
            on_result=lambda problem, result: self._keep(number, problem, result),
            tree_dir=attempts.path / "trees" if trainer.keep_trees else None,
            quiet=self.index > 0,
        )
        left = attrs.evolve(bench, problems=everything).left(WHO, trainer.attempts)
        if left and self.index == 0:
            training.say(
                f"round {number}: searching {counted(len(everything), 'problem', 'problems')}, "
                f"{counted(left, 'attempt', 'attempts')} to make"
            )
        if left:
            trainer.forget_model()  # the prover has its own
        mine = bench.left(WHO, trainer.attempts)
        serving: AbstractContextManager[str | None] = nullcontext()
        if trainer.server_command is not None:
            serving = served_here(
                trainer.server_command,
                trainer.searching_model(),
                attempts.path,
                timeout=trainer.server_timeout,
                needed=mine > 0,
                processes=trainer.processes,
            )
        with serving as endpoint:
            if mine:
                seed, label = trainer.seed + (number - 1) * trainer.attempts, f"round {number}"
                make = self._provers(endpoint)
                bench.run(WHO, make, attempts=trainer.attempts, seed=seed, label=label)

    def _attempts(self, number: int) -> AttemptFolder:
        return AttemptFolder(self.folder / "rounds" / str(number))

    def _provers(self, endpoint: str | None) -> Any:
        """Return the factory of an attempt's prover; the model is loaded once."""
        prover: Any = self.trainer.make_prover(endpoint)

        def with_seed(seed: int) -> Any:
            prover.settings = attrs.evolve(prover.settings, seed=seed)
            return prover

        return sampling_whole_proofs(with_seed) if self.trainer.whole_proof else with_seed

    def _keep(self, number: int, problem: BenchmarkProblem, result: SearchResult) -> None:
        """Write a proof to disk before its attempt, so that no kill loses it."""
        if not result.success:
            return
        found = proofs.FoundProof.of(problem, number, result)
        files.append_lines(self.proofs, [attrs.asdict(found)])
        if result.tree is not None:
            rows = proofs.negatives(problem.full_name, number, result.tree)
            files.append_lines(self.folder / NEGATIVES, rows)
        theorem = problem.theorem
        if theorem is None or theorem.identity not in self._unproved or self.database is None:
            return
        self._unproved.discard(theorem.identity)
        if (path := self.database.json_path) is not None:
            ProofLog(path.with_name(PROOFS)).append(ProvedTheorem.of(theorem, found.proof))
        try:
            self.database.record_proof(theorem, found.tactics or result.tactics or ())
        except NotInDatabaseError:
            return  # another process recorded a proof first; keep that one

    def _note(self, number: int) -> None:
        """Append a round's line to ``rounds.jsonl``, and print it."""
        attempts = self._attempts(number).attempts(WHO)
        found = proofs.read_proofs(self.proofs, number)
        proved = {one.name for one in attempts if one.success}
        new = {name for name in proved if found[name][0].round == number}
        clock = len({one.name for one in attempts if one.ended_by_clock})
        row = {
            "round": number,
            "model": Path(self.trainer.searching_model()).name,
            "problems": len(self._problems),
            "tried": self._tried,
            "proved": len(proved),
            "new": len(new),
            "distinct_proofs": sum(map(len, found.values())),
            "proved_so_far": len(found),
            "expansions": sum(one.expansions for one in attempts),
            "samples": sum(one.samples for one in attempts),
            "lean_calls": sum(one.lean_calls for one in attempts),
            "refused_proofs": sum(one.refused_proofs for one in attempts),
            "ended_by_clock": clock,
        }
        file = self.folder / ROUNDS
        if all(line["round"] != number for line in files.read_lines(file)):  # a run may go on here
            files.append_lines(file, [row])
        training.say(
            f"round {number}: {len(proved)} of {self._tried} problems proved, {len(new)} for the "
            f"first time; {len(found)} of {len(self._problems)} so far"
        )
        if clock:
            what = counted(clock, "problem", "problems")
            training.say(f"round {number}: a time limit, instead of a count, ended work on {what}")

    def _write_data(self, number: int, output_path: Path) -> None:
        found = proofs.read_proofs(self.proofs, number)
        whole = formats_whole_proofs(self.trainer.make_formatter())
        mine = {
            (step.state_before, step.tactic)
            for same in found.values()
            for one in same
            for step in one.lesson(whole)
        }
        known: set[proofs.Pair] = set()
        human = learned = 0

        def lessons() -> Iterator[Theorem]:
            nonlocal human, learned
            for theorem in self._human():
                pairs = list(proofs.pairs_of(theorem, whole=whole))
                human += len(pairs)
                known.update(mine.intersection(pairs))
                yield theorem
            limit = self.trainer.proofs_per_theorem
            for theorem in proofs.chosen(found, limit, known, whole=whole):
                learned += len(theorem.traced_tactics)
                yield theorem

        write_theorems(output_path / "random" / "train.json", lessons())
        if (metadata := self.data_path / files.METADATA_FILE).is_file():
            files.atomic_write_bytes(output_path / files.METADATA_FILE, metadata.read_bytes())
        units = "found proofs" if whole else "steps of found proofs"
        training.say(f"round {number}: learning {learned} {units} and {human} of human ones")

    def _human(self) -> Iterator[Theorem]:
        """Yield the theorems whose human proofs are learned, too."""
        if self.database is None:
            return
        if not self._exported:
            self.database.export_merged_data(list(self.repositories), self.data_path)
            self._exported = True
        share = self.trainer.human_share
        if not share:
            return
        # The database holds proofs of these that this run, or another one, has found.
        found = {
            theorem.identity
            for repository in self.repositories
            # Proved ones last, so that a theorem proved meanwhile is not skipped.
            for name in ("sorry_theorems_unproved", "sorry_theorems_proved")
            for theorem in repository.iter_list(name)
        }
        for theorem in read_theorems(training.split_file(self.data_path)):
            if theorem.identity not in found and training.is_in_share(theorem, share):
                yield theorem
