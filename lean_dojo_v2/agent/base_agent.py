"""Agents: from repositories to a trained model and verified proofs; one for an existing prover."""

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from lean_dojo_core import Evaluates, Evaluation, Theorem, Trainer, UsageError
from lean_dojo_v2.agent.proofs import ProofLog, ProvedTheorem
from lean_dojo_v2.data import NotInDatabaseError, name_of_url
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.files import merged_data_dir, safe_name
from lean_dojo_v2.lean import LeanError, Server, available_cores
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover import (
    AnyProver,
    Failure,
    SearchResult,
    TheoremProblem,
    WholeProofs,
    save_tree,
    source_in,
)
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

Task = tuple[Theorem, LeanGitRepo]

log = logging.getLogger(__name__)


class BaseAgent(ABC):
    """Traces repositories into a database, trains on them, proves their ``sorry`` theorems.

    The database is JSON, or SQLite by its suffix; an existing one is continued. The
    ``prover_config`` has the limits of proof search. A subclass provides a ``trainer``, sets up the
    prover, and may ask for traced dependencies.
    """

    trainer: Trainer | None
    """The trainer; ``None`` for an agent that does not train."""

    def __init__(
        self,
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        self.database = DynamicDatabase(database_path)
        self.database_path = Path(database_path).absolute()
        self.data_path = merged_data_dir().absolute()
        self.prover_config = prover_config or ProverConfig()
        self.repos: list[LeanGitRepo] = []
        self.prover: AnyProver | None = None
        self.proofs = ProofLog(self.database_path.with_name("proofs.jsonl"))
        self.tree_dir: Path | None = None
        """Folder for search trees, as JSON and SVG; ``None``: they are not saved."""
        self.only: Sequence[Task] | None = None
        """Tasks for ``prove`` in place of the ``sorry`` theorems without a proof."""

    def _get_build_deps(self) -> bool:
        """Return whether the dependencies of a repository are traced, too."""
        return False

    @abstractmethod
    def _setup_prover(self) -> None:
        """Set ``self.prover``."""

    def setup_github_repository(self, url: str, commit: str) -> Repository:
        """Fetch a repository, trace it into the database, and work on it from now on.

        The url is any address that git clones, the commit a commit, branch or tag. One that cannot
        be fetched or traced is a ``TraceError``.
        """
        return self._setup(LeanGitRepo(url, commit))

    def setup_local_repository(self, path: str | Path) -> Repository:
        """Trace a folder into the database and work on it from now on.

        A ``TraceError`` if it is not a Lean project or cannot be traced.
        """
        return self._setup(LeanGitRepo.from_path(path))

    def _setup(self, repo: LeanGitRepo) -> Repository:
        traced = self.database.get_repository(repo.url, repo.commit)
        if traced is None:
            traced = self.trace_repository(repo)
            self.add_repository(traced)
        self.repos.append(repo)
        return traced

    def trace_repository(self, repo: LeanGitRepo) -> Repository:
        """Run Lean over a repository, without changing the database."""
        return trace_repository(repo, build_deps=self._get_build_deps())

    def add_repository(self, repository: Repository) -> None:
        """Add a traced repository to the database."""
        self.database.add_repository(repository)

    def train(self) -> None:
        """Train on all repositories of the database, easiest first.

        A ``UsageError`` if there is no trainer, or the database has no repository.
        """
        trainer = self._trainer()
        if not self.database.repositories:
            raise UsageError(
                "no repository is loaded; call setup_github_repository() or "
                "setup_local_repository() first"
            )
        repos = self.database.sort_repositories_by_difficulty()
        trainer.train(repos=repos, database=self.database, data_path=self.data_path)

    def evaluate(self) -> Evaluation:
        """Measure the trained model on held-out data.

        A ``UsageError`` if the trainer does not measure, or there is nothing to measure on.
        """
        trainer = self._trainer()
        if not isinstance(trainer, Evaluates):
            raise UsageError(f"{type(trainer).__name__} cannot measure: it has no method evaluate")
        return trainer.evaluate(self.data_path)

    def _trainer(self) -> Trainer:
        if self.trainer is None:
            raise UsageError(f"{type(self).__name__} has no trainer; use HFAgent or LeanAgent")
        return self.trainer

    def initialize_prover(self) -> list[Task]:
        """Set up the prover and list the ``sorry`` theorems without a proof, with their repos."""
        tasks: list[Task] = list(self.only or ())
        for repo in self.repos if self.only is None else ():
            repository = self.database.get_repository(repo.url, repo.commit)
            if repository is not None:
                tasks += [(theorem, repo) for theorem in repository.sorry_theorems_unproved]
        self._setup_prover()
        return tasks

    def prove(self, whole_proof: bool = False, *, limit: int | None = None) -> list[SearchResult]:
        """Prove the ``sorry`` theorems of the repositories that were set up.

        Every proof that Lean confirms is recorded in the database at once and appended to
        ``proofs.jsonl`` beside it, so a killed run loses nothing, and the same call continues
        with the remaining theorems. At most ``limit`` are tried, and each gives a result. With
        ``whole_proof`` the model writes each proof in one go instead of searching.

        Raises:
            GeneratorError: If the model's generator fails.
        """
        tasks = self.initialize_prover()[:limit]
        if not tasks:
            print("No sorry theorems found to prove.")
            return []
        if self.only is None:
            print(f"Found {len(tasks)} sorry theorems to prove")
        results: list[SearchResult] = []
        with tqdm(total=len(tasks), desc="theorems", disable=not sys.stderr.isatty()) as bar:
            for repo in dict.fromkeys(repo for _, repo in tasks):
                theorems = [theorem for theorem, home in tasks if home == repo]
                for result in self._results(theorems, repo, whole_proof):
                    results.append(result)
                    bar.update()
        print(f"Proved {sum(result.success for result in results)} of {len(results)} theorems")
        return results

    def prove_theorem(
        self, theorem: Theorem, repo: LeanGitRepo, whole_proof: bool = False
    ) -> SearchResult:
        """Prove one theorem of a repository, print the result and record a proof.

        With ``whole_proof`` the model writes the proof in one go.
        """
        if self.prover is None:
            self._setup_prover()
        [result] = self._results([theorem], repo, whole_proof)
        return result

    def _results(
        self, theorems: Sequence[Theorem], repo: LeanGitRepo, whole_proof: bool
    ) -> Iterator[SearchResult]:
        opened: list[Theorem] = []
        problems: list[TheoremProblem] = []
        for theorem in theorems:
            try:
                problems.append(TheoremProblem(source_in(repo.path, theorem), theorem))
                opened.append(theorem)
            except LeanError as error:
                reason = Failure.CANNOT_OPEN
                result = SearchResult(theorem.full_name, False, reason=reason, detail=str(error))
                self._report(theorem, result)
                yield result
        if not problems:
            return
        assert self.prover is not None
        config = self.prover_config
        prover = WholeProofs(self.prover) if whole_proof else self.prover
        count = min(config.num_workers, available_cores(), len(problems))
        with ExitStack() as stack:
            servers = [
                stack.enter_context(Server(project_path=repo.path, start=False))
                for _ in range(1 if whole_proof else count)
            ]
            for index, result in prover.search_many(problems, servers, verbose=config.debug):
                self._report(opened[index], result)
                yield result

    def _report(self, theorem: Theorem, result: SearchResult) -> None:
        """Record a proof before printing it, so that a kill loses nothing."""
        if result.proof is not None:
            self.proofs.append(ProvedTheorem.of(theorem, result.proof))
            self._record(theorem, result)
        if self.tree_dir is not None:
            folder = self.tree_dir / safe_name(name_of_url(theorem.url))
            save_tree(result.tree, folder, theorem.full_name)
        tqdm.write(f"Proving {theorem.full_name}", file=sys.stdout)
        tqdm.write(str(result), file=sys.stdout)
        for tactic in result.tactics or ():
            tqdm.write(f"  {tactic}", file=sys.stdout)

    def _record(self, theorem: Theorem, result: SearchResult) -> None:
        try:
            self.database.record_proof(theorem, result.tactics or ())
        except NotInDatabaseError:
            # Already proved, perhaps by another agent on this database; keep that proof.
            repository = self.database.get_repository(theorem.url, theorem.commit)
            known = () if repository is None else repository.iter_theorems()
            if all(other.identity != theorem.identity for other in known):
                raise
            log.info("%s has a proof already", theorem.full_name)


class ProverAgent(BaseAgent):
    """Proves with a given prover, which ``make_prover`` makes when it is first needed."""

    trainer = None

    def __init__(
        self,
        make_prover: Callable[[ProverConfig], AnyProver],
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        super().__init__(database_path, prover_config)
        self._make_prover = make_prover

    def _setup_prover(self) -> None:
        if self.prover is None:
            self.prover = self._make_prover(self.prover_config)
