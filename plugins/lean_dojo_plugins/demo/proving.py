"""Prove the same theorems with the model of each stage, as ``lean-dojo bench`` does."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import attrs
import orjson
from tqdm import tqdm

from lean_dojo_core import Prover
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.database import held_out, problems_of, sorry_theorems
from lean_dojo_v2.benchmarks.runner import Bench, engines_for
from lean_dojo_v2.benchmarks.statistics import Share
from lean_dojo_v2.benchmarks.summary import Summary
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.automation import AutomationProver
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE
from lean_dojo_v2.prover.search.result import SearchResult
from lean_dojo_v2.tracing import LeanGitRepo

GROUPS = ("held-out", "sorry")
TREES = 3
"""Search trees of a stage that are kept: the largest that ended in a proof."""


@attrs.frozen
class StageResult:
    """What one stage proved.

    Attributes:
        stage: Name of the stage.
        proved: Theorems proved, by group.
        tried: Theorems tried, by group.
        seconds: Search time summed over the theorems.
    """

    stage: str
    proved: dict[str, int]
    tried: dict[str, int]
    seconds: float

    @classmethod
    def of(cls, stage: str, attempts: Sequence[Attempt]) -> StageResult:
        """Add a stage's attempts up."""
        summary = Summary.of(attempts)
        shares = {group: summary.groups.get(group, Share.of(0, 0)) for group in GROUPS}
        return cls(
            stage,
            {group: share.proved for group, share in shares.items()},
            {group: share.tried for group, share in shares.items()},
            summary.seconds,
        )

    def __str__(self) -> str:
        found = [f"{Share.of(self.proved[g], self.tried[g])} {g} theorems" for g in GROUPS]
        return f"proved {', '.join(found)}, each confirmed by Lean"


def choose_problems(
    database: DynamicDatabase, repos: Sequence[LeanGitRepo], limit: int | None
) -> list[BenchmarkProblem]:
    """Give the held-out theorems (val and test) and the ``sorry`` theorems of the repositories.

    Args:
        database: The traced repositories.
        repos: Where their files are.
        limit: Take at most so many of each group, chosen by a hash of their names.
    """
    known = [database.get_repository(repo.url, repo.commit) for repo in repos]
    repositories = [repository for repository in known if repository is not None]
    found = {
        "held-out": [theorem for theorem, _ in held_out(repositories)],
        "sorry": [theorem for theorem, _ in sorry_theorems(repositories)],
    }
    chosen = [
        (theorem, group)
        for group, theorems in found.items()
        for theorem in sorted(
            theorems, key=lambda one: hashlib.sha256(one.full_name.encode()).digest()
        )[:limit]
    ]
    chosen.sort(key=lambda pair: (pair[0].url, pair[0].file_path))
    return problems_of(chosen, {repo.url: repo.path for repo in repos})


@attrs.define
class Arena:
    """The theorems of the demo and the limits under which every model tries them.

    Its engines stay open from one stage to the next: what they have elaborated of the theorems'
    files is not elaborated again. Close it when it is done, or use it as a context manager.

    Attributes:
        problems: The theorems.
        config: Limits of the search.
        folder: Where attempts, proofs and trees go.
    """

    problems: Sequence[BenchmarkProblem]
    config: ProverConfig
    folder: Path
    _servers: dict[Path | None, list[Server]] = attrs.field(
        factory=lambda: defaultdict(list), init=False
    )
    _lent: Counter[Path | None] = attrs.field(factory=Counter, init=False)
    _stack: ExitStack = attrs.field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the engines."""
        self._servers.clear()
        self._stack.close()

    def run_automation(self, stage: str) -> StageResult:
        """Let Lean's own automation try all theorems; every one of its tactics, once a state."""
        everything = attrs.evolve(self.config, num_sampled_tactics=64, visits=1)
        return self._run(stage, lambda: AutomationProver(everything))

    def run(self, stage: str, model: Path, progress_model: Path | None = None) -> StageResult:
        """Let a model try all theorems; what was tried before a kill is not tried again.

        Args:
            stage: Name of the stage and its files.
            model: The model's folder.
            progress_model: A progress model that guides the search.
        """
        with _guided_by(progress_model):
            return self._run(stage, lambda: HFProver(model, config=self.config, max_new_tokens=40))

    def _run(self, stage: str, make: Any) -> StageResult:
        self.folder.mkdir(parents=True, exist_ok=True)
        attempts = AttemptFolder(self.folder)
        count = len(self.problems)
        bench = Bench(
            self.problems,
            attempts,
            workers=engines_for(self.config.num_workers, count, self.config.batch_size),
            server=self._open,
            on_result=lambda problem, result: self._keep_tree(stage, problem, result),
        )
        self._lent.clear()
        if left := bench.left(stage, 1):
            with tqdm(total=left, desc=f"proving ({stage})", disable=None) as bar:

                def tried(_: Attempt) -> None:
                    bar.update()

                def make_prover(_: int) -> Prover[Any, Any, Any]:
                    prover: Prover[Any, Any, Any] = make()
                    return prover

                bench.on_attempt = tried
                bench.run(stage, make_prover)
        found = attempts.attempts(stage)
        self._write(stage, found)
        return StageResult.of(stage, found)

    def _open(self, project: Path | None) -> AbstractContextManager[Server]:
        """Lend an engine of a project that this stage has not been lent yet."""
        servers, number = self._servers[project], self._lent[project]
        self._lent[project] += 1
        if number == len(servers):
            server = Server(project_path=project, start=False)
            servers.append(self._stack.enter_context(server))
        return nullcontext(servers[number])

    def _keep_tree(self, stage: str, problem: BenchmarkProblem, result: SearchResult) -> None:
        """Keep the largest trees that ended in a proof: they are the ones to look at."""
        if not result.success or result.tree is None:
            return
        folder = self.folder / "trees" / stage
        result.tree.save(folder / f"{problem.full_name}.json")
        by_size = sorted(folder.glob("*.json"), key=lambda file: -file.stat().st_size)
        for file in by_size[TREES:]:
            file.unlink()

    def _write(self, stage: str, attempts: Sequence[Attempt]) -> None:
        """Write a stage's attempts for the report: with the file of each theorem."""
        files = {one.full_name: one.theorem.file_path for one in self.problems if one.theorem}
        rows = [{**attrs.asdict(one), "file": files.get(one.name, "")} for one in attempts]
        content = orjson.dumps(rows, option=orjson.OPT_INDENT_2)
        atomic_write_bytes(self.folder / f"{stage}.json", content)


@contextmanager
def _guided_by(progress_model: Path | None) -> Iterator[None]:
    before = os.environ.pop(PROGRESS_VARIABLE, None)
    if progress_model is not None:
        os.environ[PROGRESS_VARIABLE] = str(progress_model)
    try:
        yield
    finally:
        os.environ.pop(PROGRESS_VARIABLE, None)
        if before is not None:
            os.environ[PROGRESS_VARIABLE] = before
