"""Prove the same held-out theorems with the model of each stage, and keep what was found."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import attrs
import orjson
from tqdm import tqdm

from lean_dojo_core.records import Theorem
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.splits import split_of
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE, source_in
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.prover.search.result import SearchResult
from lean_dojo_v2.tracing import LeanGitRepo


@attrs.frozen
class ProofTask:
    """A theorem to prove.

    Attributes:
        theorem: The theorem.
        group: ``"held-out"`` or ``"sorry"``.
        project: Its project's folder.
    """

    theorem: Theorem
    group: str
    project: Path


@attrs.frozen
class StageResult:
    """What one stage's model proved.

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


def choose_tasks(
    database: DynamicDatabase, repos: Sequence[LeanGitRepo], limit: int | None
) -> list[ProofTask]:
    """Give the held-out theorems (val and test) and the ``sorry`` theorems of the repositories.

    Args:
        database: The traced repositories.
        repos: Where their files are.
        limit: Take at most so many of each group, chosen by a hash of their names.
    """
    tasks: list[ProofTask] = []
    for repo in repos:
        repository = database.get_repository(repo.url, repo.commit)
        assert repository is not None
        tasks += [
            ProofTask(theorem, "held-out", repo.path)
            for theorem in repository.proven_theorems
            if theorem.traced_tactics and split_of(theorem) != "train"
        ]
        tasks += [
            ProofTask(theorem, "sorry", repo.path) for theorem in repository.sorry_theorems_unproved
        ]
    tasks.sort(key=lambda task: hashlib.sha256(task.theorem.full_name.encode()).digest())
    chosen = [
        task
        for group in ("held-out", "sorry")
        for task in [task for task in tasks if task.group == group][:limit]
    ]
    return sorted(chosen, key=lambda task: (str(task.project), task.theorem.file_path))


@attrs.define
class Arena:
    """The theorems of the demo and the limits under which every model tries them.

    Its engines stay open from one stage to the next: what they have elaborated of the theorems'
    files is not elaborated again. Close it when it is done, or use it as a context manager.

    Attributes:
        tasks: The theorems.
        config: Limits of the search.
        folder: Where results go.
    """

    tasks: Sequence[ProofTask]
    config: ProverConfig
    folder: Path
    _servers: dict[Path, list[Server]] = attrs.field(factory=dict, init=False)
    _stack: ExitStack = attrs.field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the engines."""
        self._servers.clear()
        self._stack.close()

    def run(self, stage: str, model: Path, progress_model: Path | None = None) -> StageResult:
        """Let a model try all theorems; a stage that is done is read from its file.

        Args:
            stage: Name of the stage and its file.
            model: The model's folder.
            progress_model: A progress model that guides the search.
        """
        file = self.folder / f"{stage}.json"
        if not file.exists() or not self._is_same(stage):
            with _guided_by(progress_model):
                found = dict(self._search(stage, model))
            rows = [
                {**found[index].to_dict(), "group": task.group, "file": task.theorem.file_path}
                for index, task in enumerate(self.tasks)
            ]
            self._save_trees(stage, found)
            atomic_write_bytes(file, orjson.dumps(rows, option=orjson.OPT_INDENT_2))
            atomic_write_text(self._mark(stage), self._digest())
        return _summary(stage, orjson.loads(file.read_bytes()))

    def _mark(self, stage: str) -> Path:
        return self.folder / f".{stage}.settings"

    def _is_same(self, stage: str) -> bool:
        """Whether a stage that is done had these theorems and limits."""
        mark = self._mark(stage)
        return mark.exists() and mark.read_text() == self._digest()

    def _digest(self) -> str:
        names = [task.theorem.full_name for task in self.tasks]
        return hashlib.sha256(repr((names, self.config)).encode()).hexdigest()

    def _search(self, stage: str, model: Path) -> Iterator[tuple[int, SearchResult]]:
        prover = HFProver(model, config=self.config, max_new_tokens=40)
        bar = tqdm(total=len(self.tasks), desc=f"proving ({stage})", disable=None)
        with bar:
            for project in dict.fromkeys(task.project for task in self.tasks):
                mine = [i for i, task in enumerate(self.tasks) if task.project == project]
                problems = [TheoremProblem(source_in(project, self.tasks[i].theorem)) for i in mine]
                for index, result in prover.search_many(
                    problems, self._engines(project, len(mine))
                ):
                    bar.update()
                    yield mine[index], result

    def _engines(self, project: Path, problems: int) -> list[Server]:
        """Give a project's engines, one for each batch of its problems at most.

        They start at their first call; each takes about a gigabyte.
        """
        if project not in self._servers:
            count = min(self.config.num_workers, math.ceil(problems / self.config.batch_size))
            self._servers[project] = [
                self._stack.enter_context(Server(project_path=project, start=False))
                for _ in range(count)
            ]
        return self._servers[project]

    def _save_trees(self, stage: str, found: dict[int, SearchResult]) -> None:
        """Keep the three largest trees that ended in a proof: they are the ones to look at."""
        proved = [r for r in found.values() if r.success and r.tree is not None]
        for result in sorted(proved, key=lambda r: -r.expansions)[:3]:
            assert result.tree is not None
            result.tree.save(self.folder / "trees" / stage / f"{result.name}.json")


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


def _summary(stage: str, rows: Sequence[dict[str, object]]) -> StageResult:
    groups = ("held-out", "sorry")
    return StageResult(
        stage,
        {g: sum(bool(row["success"]) for row in rows if row["group"] == g) for g in groups},
        {g: sum(row["group"] == g for row in rows) for g in groups},
        sum(float(str(row["seconds"])) for row in rows),
    )
