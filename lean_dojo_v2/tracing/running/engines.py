"""Elaborate files on either engine, yielding results as they are done.

Every file is one request. The embedded engine gets the sources in one folder, and compiles imported
files; for the native engine Lake builds the project.
"""

import logging
import os
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache, partial
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import orjson
import psutil

from lean_dojo_v2 import lean
from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.tracing.project.content import data_of, lake_state, readable_files, state_of_data
from lean_dojo_v2.tracing.project.lakefile import LakeProject, find_lakefile, module_path
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace, imported_first
from lean_dojo_v2.tracing.reading.answer import read_answer
from lean_dojo_v2.tracing.reading.records import Elaboration
from lean_dojo_v2.tracing.running.lake import Options, build, package_options

_log = logging.getLogger(__name__)

ENGINE_MB = 1_300
"""Memory of one embedded engine during tracing."""
MEMORY_LIMIT_MB = 4_000
_READS = re.compile(r"\b(?:include_str|include_bytes|FS|FilePath|readFile|readBinFile)\b")
"""Identifiers of functions that read files; without any, no files need to be copied."""
_MOST_BYTES = 1 << 30
"""So much of a project is copied for its programs."""

Outcomes: TypeAlias = Generator[tuple[SourceFile, Elaboration | lean.LeanError], None, None]
"""Must be closed if not exhausted, since engines work ahead."""
Imports: TypeAlias = Mapping[str, Sequence[str]]
Job: TypeAlias = Callable[..., Any]
"""A job for a file: elaborate or compile it."""


def elaborate(
    server: lean.Server,
    file: SourceFile,
    timeout: float,
    *,
    options: Options | None = None,
    keep: Path | None = None,
) -> Elaboration:
    """Elaborate a file, and compile it into the project ``keep`` if others import it."""
    fields = {**_fields(file), "olean": keep is not None, "options": dict(options or {})}
    answer = server.ask("dojo.trace", fields, timeout)
    if keep is not None:
        _keep(answer, file, keep)
    return read_answer(answer, lean.PositionMap(file.text))


def compile_module(server: lean.Server, file: SourceFile, timeout: float, *, keep: Path) -> None:
    """Compile a file into its project folder, for files that import it."""
    _keep(server.ask("dojo.compile", _fields(file), timeout), file, keep)


def _fields(file: SourceFile) -> dict[str, Any]:
    return {"file": file.text, "fileName": file.path, "module": file.module, "compiled": True}


def _keep(answer: Mapping[str, Any], file: SourceFile, folder: Path) -> None:
    """Write a compiled module beside its source; none if an import was not compiled."""
    if "olean" in answer:
        path = folder / module_path(file.module).with_suffix(".olean")
        atomic_write_bytes(path, bytes(orjson.loads(answer["olean"])))


def lay_out(workspace: Workspace, folder: Path) -> None:
    """Write modules where the engine looks for them, and what the project's programs read."""
    if any(_READS.search(file.text) for file in workspace.all):
        _copy(workspace.project, folder)
    for file in workspace.all:
        path = folder / module_path(file.module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="\n")


def _copy(project: LakeProject, folder: Path) -> None:
    """Copy the files of the project and of fetched packages; of a single file what it names."""
    if find_lakefile(project.root) is None:
        sources: Iterable[Path] = data_of(project).values()
    else:
        places = (project.root / project.place_of(d) for d in project.dependencies)
        packages = [project.root, *(place for place in places if place.is_dir())]
        sources = chain.from_iterable(map(readable_files, packages))
    left = _MOST_BYTES
    for source in sources:
        left -= source.stat().st_size
        if left < 0:
            _log.warning("%s: programs of the project cannot read all of it", project.root)
            return
        target = Path(os.path.normpath(folder / os.path.relpath(source, project.root)))
        if target.is_relative_to(folder):  # not a package elsewhere
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


class EmbeddedEngine:
    """Embedded engines: ``jobs`` of them, by default one per core as memory allows."""

    def __init__(self, workspace: Workspace, jobs: int | None, timeout: float) -> None:
        if foreign := workspace.foreign():
            module, path = foreign
            raise lean.EngineUnavailableError(
                f"{path} imports {module}, and the embedded Lean engine has only Lean's own "
                "library and sources, no Mathlib and no compiled packages. Trace with the "
                f"project's own Lean: install it with elan ({lean.LEAN_INSTALL_URL}), run "
                "`lake exe cache get` (Mathlib) and `lake build` in the project, then use "
                "--engine native (or LEAN_DOJO_ENGINE=native)."
            )
        _warn_of_another_lean(workspace.project)
        self._workspace = workspace
        self._jobs = jobs
        self._timeout = timeout
        self.identity = f"embedded {lean.EMBEDDED_PACKAGE} Lean {lean.EMBEDDED_LEAN_VERSION}"

    def state(self) -> str:
        """Return what results depend on besides texts of Lean: a hash of files that they name."""
        return state_of_data(self._workspace.project)

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Elaborate files; yield an error for one on which the engine fails."""
        room = psutil.virtual_memory().available // (ENGINE_MB << 20)
        size = self._jobs or max(1, min(lean.available_cores(), room))
        wanted = {file.module for file in files}
        known = self._workspace.imports
        imports = {name: known[name] for name in imported_first(known, sorted(wanted))}
        imported = set(chain.from_iterable(imports.values()))
        with TemporaryDirectory(prefix="lean-dojo-") as folder:
            lay_out(self._workspace, Path(folder))
            config = lean.PoolConfig(
                size=min(size, len(imports)),
                engine="embedded",
                project_path=folder,
                timeout=self._timeout,
                memory_limit_mb=MEMORY_LIMIT_MB,
            )

            def job(file: SourceFile) -> Job:
                if file.module not in wanted:
                    return partial(compile_module, keep=Path(folder))
                return partial(elaborate, keep=Path(folder) if file.module in imported else None)

            for file, outcome in _in_order(config, self._workspace.files, imports, job):
                if file.module in wanted:
                    yield file, outcome


class NativeEngine:
    """Engines of the project's own Lean: ``jobs`` of them, by default one per core."""

    def __init__(self, project: LakeProject, jobs: int | None, timeout: float) -> None:
        if shutil.which("lake") is None:
            raise lean.EngineUnavailableError(
                "Tracing with the project's own Lean needs `lake` on the PATH. Install it with "
                f"elan ({lean.LEAN_INSTALL_URL})."
            )
        if lean.find_repl() is not None:
            raise lean.EngineUnavailableError(
                f"{lean.FOREIGN_VARIABLE} names an engine that cannot trace. Unset it, or use "
                "--engine embedded."
            )
        self._lean = lean.toolchain_of(project.root)
        self._project = project
        self._options_of = cache(partial(package_options, project))
        self._jobs = jobs or lean.available_cores()
        self._timeout = timeout
        self.identity = f"native {self._lean.said}"

    def state(self) -> str:
        """Return a hash of Lake's files, the options and files named by the sources."""
        data = state_of_data(self._project)
        return f"{lake_state(self._project.root)} {self._options_of('')} {data}".rstrip()

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        """Build the project, then as :meth:`EmbeddedEngine.run`."""
        # First, so that an old Lean is reported before a long build.
        lean.compiled_for(self._lean, self._project.root)
        build(self._project.root)
        config = lean.PoolConfig(
            size=min(self._jobs, len(files)),
            engine="native",
            project_path=self._project.root,
            timeout=self._timeout,
            memory_limit_mb=None,
        )
        known = {file.module: file for file in files}
        yield from _in_order(
            config,
            known,
            dict.fromkeys(known, ()),
            lambda file: partial(elaborate, options=self._options_of(file.package).of(file.module)),
        )


Engine: TypeAlias = EmbeddedEngine | NativeEngine


def _in_order(
    config: lean.PoolConfig,
    files: Mapping[str, SourceFile],
    imports: Imports,
    job: Callable[[SourceFile], Job],
) -> Outcomes:
    """Run each file's job after those of its imports; skip what imports one that fails."""
    order = TopologicalSorter(imports)
    order.prepare()
    running: dict[Future[Any], SourceFile] = {}
    lost: dict[str, lean.LeanError] = {}
    with lean.EnginePool(config) as pool:
        while order.is_active():
            for module in order.get_ready():
                file = files[module]
                if broken := next((lost[name] for name in imports[module] if name in lost), None):
                    lost[module] = broken
                    order.done(module)
                    yield file, broken
                else:  # files with the same imports go to the same engine
                    header = " ".join(sorted(file.header.modules))
                    names = {"header": header, "name": file.path, "owner": "the project"}
                    running[pool.submit(job(file), file, config.timeout, **names)] = file
            finished = wait(running, return_when=FIRST_COMPLETED).done
            order.done(*(running[future].module for future in finished))
            for future in finished:
                file = running.pop(future)
                try:
                    outcome = future.result()
                except lean.EngineUnavailableError:
                    raise
                except lean.LeanError as error:
                    [first, *_] = str(error).splitlines() or [""]
                    lost[file.module] = lean.LeanError(f"imports {file.path}, and there: {first}")
                    outcome = error
                yield file, outcome


def _warn_of_another_lean(project: LakeProject) -> None:
    """Warn if a project is written for another Lean."""
    wanted, ours = _release(project.lean_version), _release(lean.EMBEDDED_LEAN_VERSION)
    if wanted and wanted != ours:
        _log.warning(
            "%s is written for Lean %s, and the embedded engine is Lean %s: where they differ, the "
            "trace has errors or other goals. To trace with the project's own Lean, install it "
            "with elan (%s) and use --engine native.",
            project.root,
            wanted,
            ours,
            lean.LEAN_INSTALL_URL,
        )


def _release(version: str) -> str:
    """Return a version's ``4.28`` part, or the text itself."""
    found = re.match(r"v?(\d+\.\d+)\.", version)
    return found[1] if found else version


def choose_engine(
    name: lean.EngineName | str,
    project: LakeProject,
    workspace: Workspace,
    *,
    jobs: int | None = None,
    timeout: float = 600.0,
) -> Engine:
    """Choose the engine that elaborates a project's files, as for proving."""
    lone = project.only is not None and find_lakefile(project.root) is None
    place, foreign = (None, None) if lone else (project.root, workspace.foreign())
    native = lean.select_engine(name, place, needs_native=foreign is not None) == "native"
    if native and not (
        foreign and lean.chosen_engine(name) == "auto" and shutil.which("lake") is None
    ):
        return NativeEngine(project, jobs, timeout)
    return EmbeddedEngine(workspace, jobs, timeout)
