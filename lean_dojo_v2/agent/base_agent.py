"""What all agents share: repositories in, a trained model, proofs that Lean confirmed."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lean_dojo_core.errors import LeanError, UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.agent.proofs import ProofLog, ProvedTheorem
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.lean.checking import check_proof
from lean_dojo_v2.lean.pool import available_cores
from lean_dojo_v2.lean.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.paths import merged_data_dir
from lean_dojo_v2.prover.base import BaseProver, source_in
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.prover.result import SearchResult
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

Task = tuple[Theorem, LeanGitRepo]


class BaseAgent(ABC):
    """Traces repositories into a database, trains on them, proves their ``sorry`` theorems.

    A subclass gives a ``trainer``, says whether dependencies are built, and sets up the prover.

    Args:
        database_path: The database; JSON, or SQLite by its suffix. An existing one is continued.
        prover_config: Limits of proof search.
    """

    trainer: Any
    """The trainer; ``None`` for an agent that does not train."""

    def __init__(
        self,
        database_path: str | Path = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
    ) -> None:
        self.database = DynamicDatabase(database_path)
        self.database_path = Path(database_path)
        self.data_path = merged_data_dir()
        self.prover_config = prover_config or ProverConfig()
        self.repos: list[LeanGitRepo] = []
        self.prover: BaseProver | None = None
        self.proofs = ProofLog(self.database_path.with_name("proofs.jsonl"))

    @abstractmethod
    def _get_build_deps(self) -> bool:
        """Say whether the dependencies of a repository are traced too."""

    @abstractmethod
    def _setup_prover(self) -> None:
        """Set ``self.prover``."""

    # --- repositories ---------------------------------------------------------------------------

    def setup_github_repository(self, url: str, commit: str) -> Repository:
        """Fetch a repository, trace it into the database, and work on it from now on.

        Args:
            url: Any address that git clones.
            commit: A commit, branch or tag.

        Raises:
            TraceError: If it cannot be fetched or traced.
        """
        return self._setup(LeanGitRepo(url, commit))

    def setup_local_repository(self, path: str | Path) -> Repository:
        """Trace a folder into the database and work on it from now on.

        Raises:
            TraceError: If it is no Lean project or cannot be traced.
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
        """Run Lean over a repository; the database is not changed."""
        return trace_repository(repo, build_deps=self._get_build_deps())

    def add_repository(self, repository: Repository) -> None:
        """Add a traced repository to the database."""
        self.database.add_repository(repository)

    # --- training -------------------------------------------------------------------------------

    def train(self) -> None:
        """Train on all repositories of the database, easiest first.

        Raises:
            UsageError: If the database has no repository.
        """
        if not self.database.repositories:
            raise UsageError(
                "no repository is loaded; call setup_github_repository() or "
                "setup_local_repository() first"
            )
        repos = self.database.sort_repositories_by_difficulty()
        self.trainer.train(repos=repos, database=self.database, data_path=self.data_path)

    def evaluate(self) -> Any:
        """Evaluate the trained model and give what the trainer measures."""
        return self.trainer.evaluate()

    # --- proving --------------------------------------------------------------------------------

    def initialize_prover(self) -> list[Task]:
        """Set up the prover and list the ``sorry`` theorems without a proof, with their repos."""
        tasks: list[Task] = []
        for repo in self.repos:
            repository = self.database.get_repository(repo.url, repo.commit)
            if repository is not None:
                tasks += [(theorem, repo) for theorem in repository.sorry_theorems_unproved]
        self._setup_prover()
        return tasks

    def prove(self, whole_proof: bool = False, *, limit: int | None = None) -> list[SearchResult]:
        """Prove the ``sorry`` theorems of the repositories that were set up.

        Every proof that Lean confirms is recorded in the database at once and appended to
        ``proofs.jsonl`` beside it, so a run that is killed loses nothing.

        Args:
            whole_proof: Have the model write each proof in one go instead of searching.
            limit: Try at most so many theorems.

        Returns:
            A result for each theorem tried.
        """
        tasks = self.initialize_prover()[:limit]
        if not tasks:
            print("No sorry theorems found to prove.")
            return []
        print(f"Found {len(tasks)} sorry theorems to prove")
        if whole_proof:
            return [self.prove_theorem(theorem, repo, whole_proof=True) for theorem, repo in tasks]
        results: list[SearchResult] = []
        bar = tqdm(total=len(tasks), desc="theorems", disable=not sys.stderr.isatty())
        with bar:
            for repo in dict.fromkeys(repo for _, repo in tasks):
                theorems = [theorem for theorem, home in tasks if home == repo]
                for result in self._search(theorems, repo):
                    results.append(result)
                    bar.update()
        proved = sum(result.success for result in results)
        print(f"Proved {proved} of {len(results)} theorems")
        return results

    def prove_theorem(
        self, theorem: Theorem, repo: LeanGitRepo, whole_proof: bool = False
    ) -> SearchResult:
        """Prove one theorem, print the result and record a proof.

        Args:
            theorem: The theorem.
            repo: Its repository.
            whole_proof: Have the model write the proof in one go.
        """
        if self.prover is None:
            self._setup_prover()
        if whole_proof:
            return self._whole_proof(theorem, repo)
        [result] = self._search([theorem], repo)
        return result

    def _search(self, theorems: Sequence[Theorem], repo: LeanGitRepo) -> Iterator[SearchResult]:
        assert self.prover is not None
        problems = [TheoremProblem(source_in(repo.path, theorem)) for theorem in theorems]
        count = min(self.prover_config.num_workers, available_cores(), len(problems))
        with ExitStack() as stack:
            servers = [stack.enter_context(self._server(repo)) for _ in range(count)]
            found = self.prover.search_many(problems, servers, verbose=self.prover_config.debug)
            for index, result in found:
                self._report(theorems[index], result)
                yield result

    def _server(self, repo: LeanGitRepo) -> Server:
        return Server(project_path=repo.path, start=False)

    def _whole_proof(self, theorem: Theorem, repo: LeanGitRepo) -> SearchResult:
        assert self.prover is not None
        proof = self.prover.generate_whole_proof(theorem)
        source = source_in(repo.path, theorem)
        with self._server(repo) as server:
            try:
                outcome = check_proof(server, source, proof)
                valid, detail = outcome.valid, outcome.detail
            except LeanError as error:
                valid, detail = False, str(error)
        lines = tuple(line for line in proof.split("\n") if line.strip())
        result = SearchResult(
            theorem.full_name,
            valid,
            tactics=lines if valid else None,
            proof=proof if valid else None,
            detail=detail,
            lean_calls=1,
        )
        self._report(theorem, result)
        return result

    def _report(self, theorem: Theorem, result: SearchResult) -> None:
        """Record a proof before anything is said about it; a kill after that loses nothing."""
        if result.success:
            assert result.tactics is not None
            assert result.proof is not None
            self.database.record_proof(theorem, result.tactics)
            self.proofs.append(ProvedTheorem.of(theorem, result.proof))
        tqdm.write(f"Proving {theorem.full_name}", file=sys.stdout)
        tqdm.write(str(result), file=sys.stdout)
        for tactic in result.tactics or ():
            tqdm.write(tactic, file=sys.stdout)
