"""Run a prover on a benchmark, resuming after a kill."""

import math
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from tqdm import tqdm

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.rows import problem_of, project_of
from lean_dojo_v2.kinds import Prover
from lean_dojo_v2.lean import LeanError, Server, available_cores
from lean_dojo_v2.prover import Failure, SearchResult, TheoremProblem, save_tree

SERVER_TIMEOUT = 300.0
"""Seconds that an engine may take for anything other than a tactic: a safety net."""

ProverFactory: TypeAlias = "Callable[[int], Prover[Any, Any, Any]]"
"""Makes a prover whose sampling has a seed."""
ServerFactory: TypeAlias = "Callable[[Path | None], AbstractContextManager[Server]]"
"""Opens an engine for a Lean project; ``None`` for Lean alone."""


def _server(project: Path | None) -> Server:
    return Server(project_path=project, start=False, timeout=SERVER_TIMEOUT)


def start_together(servers: Sequence[Server]) -> None:
    """Start engines in threads, while this one imports and loads a model.

    They share a judge, whose engines start after them. If one does not start, the next call that
    needs it tries again and raises the error.
    """
    for server in servers[1:]:
        server.share_judge(servers[0].judge)

    def start(server: Server) -> None:
        with suppress(LeanError):
            server.stat()
            if server.capabilities.ours and server.pid is not None:  # it may be closed by now
                server.judge.start()

    for server in servers:
        threading.Thread(target=start, args=(server,), name="lean-start", daemon=True).start()


_opens: ContextVar[ServerFactory] = ContextVar("what opens engines", default=_server)


def local_server(project: Path | None) -> AbstractContextManager[Server]:
    """Open an engine of this machine; it starts at its first call."""
    return _opens.get()(project)


@contextmanager
def engines_kept() -> Iterator[None]:
    """Keep the engines of :func:`local_server` open until the end of the context.

    They are reused from run to run, with everything that they have elaborated.
    """
    idle: dict[Path | None, list[Server]] = defaultdict(list)
    with ExitStack() as stack:

        @contextmanager
        def lend(project: Path | None) -> Iterator[Server]:
            free = idle[project]
            server = free.pop() if free else stack.enter_context(_server(project))
            try:
                yield server
            finally:
                free.append(server)

        token = _opens.set(lend)
        try:
            yield
        finally:
            _opens.reset(token)


@attrs.define
class Bench:
    """A benchmark's theorems, and the run over them.

    Attributes:
        problems: The theorems.
        folder: The run's folder.
        workers: Parallel engines; local ones at most one per core.
        server: Opens an engine.
        on_result: Called with every result before its attempt is recorded, so that a kill loses
            nothing; may be called twice for one result.
        remote: Whether the provers have engines of their own elsewhere, so that none starts here.
        tree_dir: Folder for the search trees of first attempts; ``None``: not saved.
        quiet: Show no bar.
    """

    problems: Sequence[BenchmarkProblem]
    folder: AttemptFolder
    workers: int = 1
    server: ServerFactory = local_server
    remote: bool = False
    on_result: Callable[[BenchmarkProblem, SearchResult], None] = lambda _, __: None
    tree_dir: Path | None = None
    quiet: bool = False

    def left(self, who: str, attempts: int) -> int:
        """Count the remaining attempts."""
        done = self._done(who)
        return sum(
            (problem.full_name, number) not in done
            for problem in self.problems
            for number in range(attempts)
        )

    def run(
        self,
        who: str,
        make_prover: ProverFactory,
        *,
        attempts: int = 1,
        seed: int = 0,
        label: str = "attempts",
    ) -> None:
        """Make the remaining attempts, with a progress bar (off a terminal, a line every 30 s).

        ``who`` is the name of the prover's file in the run's folder. Attempt ``n`` at each theorem
        has the seed ``seed + n``. ``GeneratorError`` if the generator fails, ``TraceError`` if a
        project cannot be fetched.
        """
        done = self._done(who)
        pause = 0.1 if sys.stderr.isatty() else 30.0
        bar = tqdm(
            total=self.left(who, attempts),
            desc=label,
            mininterval=pause,
            maxinterval=pause,
            disable=self.quiet,
        )
        proved = 0
        for project, theirs in self._groups():
            todo = [
                (number, [p for p in theirs if (p.full_name, number) not in done])
                for number in range(attempts)
            ]
            most = max((len(problems) for _, problems in todo), default=0)
            if not most:
                continue
            with ExitStack() as stack:
                servers = [
                    stack.enter_context(self.server(project))
                    for _ in range(min(self.workers, most))
                ]
                if not self.remote:
                    start_together(servers)
                for number, problems in todo:
                    if problems:
                        found = _results(make_prover(seed + number), problems, project, servers)
                        for problem, result in found:
                            self._note(who, problem, number, result)
                            proved += result.success
                            bar.set_postfix_str(f"{proved} proved", refresh=False)
                            bar.update()
        bar.close()

    def _done(self, who: str) -> set[tuple[str, int]]:
        return {(one.name, one.number) for one in self.folder.attempts(who)}

    def _groups(self) -> Iterator[tuple[Path | None, list[BenchmarkProblem]]]:
        """Yield each project's folder and theorems: engines are opened once for each."""
        places: dict[tuple[object, ...], list[BenchmarkProblem]] = {}
        for problem in self.problems:
            traced = problem.theorem
            home = () if traced is None else (traced.url, traced.commit)
            places.setdefault((problem.project, *home), []).append(problem)
        for problems in places.values():
            yield project_of(problems[0]), problems

    def _note(self, who: str, problem: BenchmarkProblem, number: int, result: SearchResult) -> None:
        self.on_result(problem, result)
        attempt = Attempt.of(problem.full_name, number, problem.split, result)
        self.folder.append(who, attempt)
        if self.tree_dir is not None and number == 0:
            save_tree(result.tree, self.tree_dir / who, problem.full_name)


def _results(
    prover: Prover[Any, Any, Any],
    problems: Sequence[BenchmarkProblem],
    project: Path | None,
    servers: Sequence[Server],
) -> Iterator[tuple[BenchmarkProblem, SearchResult]]:
    opened: list[tuple[BenchmarkProblem, TheoremProblem]] = []
    for problem in problems:
        try:
            opened.append((problem, problem_of(problem, project)))
        except LeanError as error:
            reason = Failure.CANNOT_OPEN
            yield problem, SearchResult(problem.full_name, False, reason=reason, detail=str(error))
    if opened:
        for index, result in prover.search_many([one for _, one in opened], servers):
            yield opened[index][0], result


def engines_for(workers: int, problems: int, batch_size: int, processes: int = 1) -> int:
    """Return the number of engines for one of several processes on this machine.

    At most one per core and per batch of problems.

    >>> engines_for(64, 3, 12)
    1
    """
    cores = available_cores() // processes
    return max(1, min(workers, cores, math.ceil(problems / batch_size)))
