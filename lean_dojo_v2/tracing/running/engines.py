"""The engines behind one door: files in, elaborations out, in whatever order they are done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from functools import partial
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeAlias, TypeVar

import psutil

from lean_dojo_core.errors import EngineUnavailableError, LeanError
from lean_dojo_v2.lean.engines.embedded import install
from lean_dojo_v2.lean.engines.selection import EngineName, select
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig, available_cores
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace, refuse_foreign
from lean_dojo_v2.tracing.reading.records import Elaboration
from lean_dojo_v2.tracing.running import embedded
from lean_dojo_v2.tracing.running.native import NativeLean

ENGINE_MB = 1_300
"""Memory that one embedded engine takes while it traces."""
MEMORY_LIMIT_MB = 4_000

Outcome: TypeAlias = Elaboration | LeanError
Outcomes: TypeAlias = Generator[tuple[SourceFile, Outcome], None, None]
"""To be closed by whoever does not take all: the engines work on behind it."""
Result = TypeVar("Result")
Job: TypeAlias = Callable[..., Elaboration | None]


class Engine(Protocol):
    """Something that elaborates files."""

    @property
    def identity(self) -> str:
        """What it is, with its version: what it says about a file depends on it."""

    def state(self) -> str:
        """Say what a result depends on besides that and the texts of the project's files.

        Raises:
            TraceError: The project's own files say it, and they cannot be read.
        """

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Elaborate files; one that the engine breaks down on gives its error.

        Raises:
            EngineUnavailableError: The engine cannot be started.
        """


class EmbeddedEngine:
    """The embedded engine, several of it.

    Args:
        workspace: The files.
        jobs: Engines; if not given, one a core, as far as memory goes.
        timeout: Seconds a file.

    Raises:
        EngineUnavailableError: A file imports something that it cannot import.
    """

    def __init__(self, workspace: Workspace, jobs: int | None, timeout: float) -> None:
        if foreign := workspace.foreign():
            raise refuse_foreign(*foreign)
        self._workspace = workspace
        self._jobs = jobs
        self._timeout = timeout
        self.identity = f"embedded {install.PACKAGE}@{install.VERSION} Lean {install.LEAN_VERSION}"

    def state(self) -> str:
        """Say that nothing else counts: it has Lean's own library, and no options of projects."""
        return ""

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Elaborate files; see :class:`Engine`."""
        room = psutil.virtual_memory().available // (ENGINE_MB << 20)
        size = self._jobs or max(1, min(available_cores(), room))
        with TemporaryDirectory(prefix="lean-dojo-") as folder:
            embedded.lay_out(self._workspace.all, Path(folder))
            config = PoolConfig(
                size=min(size, len(files)),
                engine="embedded",
                project_path=folder,
                timeout=self._timeout,
                memory_limit_mb=MEMORY_LIMIT_MB,
            )
            with EnginePool(config) as pool:
                yield from self._in_order(pool, Path(folder), files)

    def _in_order(self, pool: EnginePool, folder: Path, files: Sequence[SourceFile]) -> Outcomes:
        """Elaborate each file when what it imports is done, for that lies compiled there then.

        What nobody asked for, but some file imports, is compiled only.
        """
        wanted = {file.module for file in files}
        imports = self._workspace.imports_among(wanted)
        imported = set(chain.from_iterable(imports.values()))
        order = TopologicalSorter(imports)
        order.prepare()
        running: dict[Future[Elaboration | None], SourceFile] = {}

        def submit_ready() -> None:
            for module in order.get_ready():
                file = self._workspace.files[module]
                keep = folder if module in imported else None
                job: Job = partial(embedded.elaborate, keep=keep)
                if module not in wanted:
                    job = partial(embedded.compile_module, keep=folder)
                running[self._submit(pool, job, file)] = file

        submit_ready()
        while running:
            done = wait(running, return_when=FIRST_COMPLETED).done
            finished = {future: running.pop(future) for future in done}
            order.done(*(file.module for file in finished.values()))
            submit_ready()
            for future, file in finished.items():
                outcome = _outcome(future)
                if outcome is not None and file.module in wanted:
                    yield file, outcome

    def _submit(self, pool: EnginePool, job: Job, file: SourceFile) -> Future[Elaboration | None]:
        """Queue a file; those with the same imports go to the same engine, which has them."""
        header = " ".join(sorted(file.header.modules))
        return pool.submit(job, file, self._timeout, header=header, name=file.path)


class NativeEngine:
    """The project's own Lean, several processes of it.

    Args:
        project: The project.
        jobs: Processes; one a core if not given.
        timeout: Seconds a file.

    Raises:
        EngineUnavailableError: There is no Lake, or no Lean that is new enough.
    """

    def __init__(self, project: LakeProject, jobs: int | None, timeout: float) -> None:
        self._lean = NativeLean(project)
        self._jobs = jobs or available_cores()
        self._timeout = timeout
        self.identity = f"native {self._lean.version}"

    def state(self) -> str:
        """Say what Lake's files say; see :class:`Engine`."""
        return self._lean.state()

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Build the project and elaborate files; see :class:`Engine`."""
        self._lean.build()
        with ThreadPoolExecutor(min(self._jobs, len(files))) as pool:
            try:
                waiting = {
                    pool.submit(self._lean.elaborate, file, self._timeout): file for file in files
                }
                yield from _results(waiting)
            except BaseException:  # Ctrl-C among them, which reaches none of the processes
                pool.shutdown(wait=False, cancel_futures=True)
                self._lean.stop()
                raise


def _results(waiting: dict[Future[Elaboration], SourceFile]) -> Outcomes:
    for future in as_completed(waiting):
        outcome = _outcome(future)
        yield waiting[future], outcome


def _outcome(future: Future[Result]) -> Result | LeanError:
    """Give what an engine found of a file, or why it broke down on it."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, LeanError) and not isinstance(error, EngineUnavailableError):
        return error
    raise error


def choose_engine(
    name: EngineName | str,
    project: LakeProject,
    workspace: Workspace,
    *,
    jobs: int | None = None,
    timeout: float = 600.0,
) -> Engine:
    """Choose what elaborates a project's files.

    ``auto`` means what it means for proving, see :mod:`lean_dojo_v2.lean.engines.selection`.

    Raises:
        UsageError: There is no engine of that name.
        EngineUnavailableError: The engine cannot serve this project; the message says what to do.
    """
    lone = project.only is not None and find_lakefile(project.root) is None
    place, foreign = (None, None) if lone else (project.root, workspace.foreign())
    if select(name, place, needs_native=foreign is not None) == "native":
        return NativeEngine(project, jobs, timeout)
    return EmbeddedEngine(workspace, jobs, timeout)
