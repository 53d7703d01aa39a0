"""The engines behind one door: files in, elaborations out, in whatever order they are done."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Mapping, Sequence, Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from functools import partial
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeAlias

import psutil

from lean_dojo_core.errors import EngineUnavailableError, LeanError
from lean_dojo_v2.lean.engines.embedded import install
from lean_dojo_v2.lean.engines.selection import EngineName, chosen_engine, select
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig, available_cores
from lean_dojo_v2.tracing.project.content import state_of_data
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace
from lean_dojo_v2.tracing.reading.records import Elaboration
from lean_dojo_v2.tracing.running import embedded
from lean_dojo_v2.tracing.running.native import NativeLean

ENGINE_MB = 1_300
"""Memory that one embedded engine takes while it traces."""
MEMORY_LIMIT_MB = 4_000

Outcome: TypeAlias = Elaboration | LeanError
Outcomes: TypeAlias = Generator[tuple[SourceFile, Outcome], None, None]
"""To be closed by whoever does not take all: the engines work on behind it."""
Imports: TypeAlias = Mapping[str, Sequence[str]]
Job: TypeAlias = Callable[..., Elaboration | None]


class ImportedFileError(LeanError):
    """An import of a file could not be elaborated."""


class Engine(Protocol):
    """Something that elaborates files."""

    identity: str
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
    """Embedded engines, if ``jobs`` does not say how many, one a core, as far as memory goes.

    Raises:
        EngineUnavailableError: A file imports something that it cannot import.
    """

    def __init__(self, workspace: Workspace, jobs: int | None, timeout: float) -> None:
        if foreign := workspace.foreign():
            module, path = foreign
            raise EngineUnavailableError(
                f"{path} imports {module}, and the embedded Lean engine has only Lean's own "
                "library and sources, no Mathlib and no compiled packages. Trace with the "
                "project's own Lean: install it with elan (https://elan.lean-lang.org), run "
                "`lake exe cache get` (Mathlib) and `lake build` in the project, then use "
                "--engine native (or LEAN_DOJO_ENGINE=native)."
            )
        self._workspace = workspace
        self._jobs = jobs
        self._timeout = timeout
        self.identity = f"embedded {install.PACKAGE}@{install.VERSION} Lean {install.LEAN_VERSION}"

    def state(self) -> str:
        """Say what the files are that the sources name: it has no options of projects."""
        return state_of_data(self._workspace.project)

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Elaborate files; see :class:`Engine`."""
        room = psutil.virtual_memory().available // (ENGINE_MB << 20)
        size = self._jobs or max(1, min(available_cores(), room))
        with TemporaryDirectory(prefix="lean-dojo-") as folder:
            embedded.lay_out(self._workspace, Path(folder))
            wanted = {file.module for file in files}
            imports = self._workspace.imports_among(wanted)
            config = PoolConfig(
                size=min(size, len(imports)),
                engine="embedded",
                project_path=folder,
                timeout=self._timeout,
                memory_limit_mb=MEMORY_LIMIT_MB,
            )
            with EnginePool(config) as pool:
                yield from self._in_order(pool, Path(folder), wanted, imports)

    def _in_order(
        self, pool: EnginePool, folder: Path, wanted: AbstractSet[str], imports: Imports
    ) -> Outcomes:
        """Elaborate each file when what it imports is done, for that lies compiled there then.

        What nobody asked for, but some file imports, is compiled only. Where Lean breaks down on a
        file, nobody who imports it is tried.
        """
        imported = set(chain.from_iterable(imports.values()))
        order = TopologicalSorter(imports)
        order.prepare()
        running: dict[Future[Elaboration | None], str] = {}
        lost: dict[str, LeanError] = {}
        while order.is_active():
            for module in order.get_ready():
                file = self._workspace.files[module]
                keep = folder if module in imported else None
                job: Job = partial(embedded.elaborate, keep=keep)
                if module not in wanted:
                    job = partial(embedded.compile_module, keep=folder)
                if broken := next((name for name in imports[module] if name in lost), None):
                    future = _failed(lost[broken])
                else:  # files with the same imports go to the same engine, which has them
                    header = " ".join(sorted(file.header.modules))
                    names = {"header": header, "name": file.path, "owner": "the project"}
                    future = pool.submit(job, file, self._timeout, **names)
                running[future] = module
            finished = wait(running, return_when=FIRST_COMPLETED).done
            order.done(*(running[future] for future in finished))
            for future in finished:
                module = running.pop(future)
                file = self._workspace.files[module]
                if failure := _failure(future):
                    lost[module] = _as_import(file, failure)
                outcome = failure or future.result()
                if outcome is not None and module in wanted:
                    yield file, outcome


class NativeEngine:
    """Processes of the project's own Lean, one a core if ``jobs`` does not say how many.

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
                for future in as_completed(waiting):
                    yield waiting[future], _failure(future) or future.result()
            except BaseException:  # Ctrl-C among them, which reaches none of the processes
                pool.shutdown(wait=False, cancel_futures=True)
                self._lean.stop()
                raise


def _failed(error: LeanError) -> Future[Elaboration | None]:
    future: Future[Elaboration | None] = Future()
    future.set_exception(error)
    return future


def _as_import(file: SourceFile, error: LeanError) -> LeanError:
    """Say to those that import a file what became of it."""
    if isinstance(error, ImportedFileError):
        return error
    [first, *_] = str(error).splitlines() or [""]
    return ImportedFileError(f"imports {file.path}, and there: {first}")


def _failure(future: Future[Any]) -> LeanError | None:
    """Say why an engine broke down on a file; what is no affair of the file is raised."""
    error = future.exception()
    if error is None:
        return None
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
    """Choose what elaborates a project's files, each within ``timeout`` seconds.

    ``auto`` means what it means for proving, see :mod:`lean_dojo_v2.lean.engines.selection`.

    Raises:
        UsageError: There is no engine of that name.
        EngineUnavailableError: The engine cannot serve this project; the message says what to do.
    """
    lone = project.only is not None and find_lakefile(project.root) is None
    place, foreign = (None, None) if lone else (project.root, workspace.foreign())
    native = select(name, place, needs_native=foreign is not None) == "native"
    if native and not (foreign and chosen_engine(name) == "auto" and shutil.which("lake") is None):
        return NativeEngine(project, jobs, timeout)
    return EmbeddedEngine(workspace, jobs, timeout)
