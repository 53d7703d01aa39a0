"""Trace a repository: elaborate every file once, and collect the results in a ``Repository``."""

import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TypeAlias

import attrs
from tqdm import tqdm

from lean_dojo_core.records import PremiseFile
from lean_dojo_v2.data import Repository, rated
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean import LeanError
from lean_dojo_v2.tracing.cache import TraceCache
from lean_dojo_v2.tracing.project.repository import LeanGitRepo
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace, read_workspace
from lean_dojo_v2.tracing.reading.extract import extract
from lean_dojo_v2.tracing.reading.names import resting_on_errors
from lean_dojo_v2.tracing.reading.records import FileError, TracedFile
from lean_dojo_v2.tracing.running.engines import Engine, choose_engine

_log = logging.getLogger(__name__)

ERRORS_KEY = "trace_errors"
"""Metadata key of Lean's errors."""
ELSEWHERE_KEY = "proofs_elsewhere"
"""Metadata key of the numbers of proofs outside theorems, by keyword."""
LEFT_OUT_KEY = "proofs_left_out"
"""Metadata key of the numbers of proofs left out, by reason."""
STEPS_KEY = "tactics_left_out"
"""Metadata key of the numbers of tactics that are not steps, by reason."""
OUTSIDE_KEY = "files_left_out"
"""Metadata key of the Lean files that are in no library of the lakefile."""
RESTING = "that rest on an error"


@attrs.frozen
class FileDone:
    """Progress report: a file is traced; its result may come from the cache.

    ``done`` files, including this one, of ``total`` are done.
    """

    file: TracedFile
    cached: bool
    done: int
    total: int


Progress: TypeAlias = Callable[[FileDone], object]


def trace_repository(
    repo: LeanGitRepo,
    *,
    build_deps: bool = False,
    engine: str = "auto",
    jobs: int | None = None,
    progress: Progress | None = None,
    date: datetime | str | None = None,
    timeout: float = 600.0,
) -> Repository:
    """Trace a repository with real Lean.

    Files that are unchanged, with all their imports, are taken from the cache
    (``raid/cache/trace``), so a second call needs no engine, and a killed one resumes. Files with
    unbuilt imports are tried again. Errors of a file are listed in the metadata
    (``trace_errors``); its theorems without an error are kept. On a terminal, a progress bar
    is shown.

    Args:
        repo: The repository; cloned if necessary.
        build_deps: Trace the dependencies of ``lake-manifest.json`` that it imports too: their
            premises join the corpus. Otherwise only their names are known.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``.
        jobs: Number of parallel engines; default: one per core, as memory allows.
        progress: Called after each file; without it, errors are also logged.
        date: ``date_processed`` of the metadata; default: now.
        timeout: Time limit per file, in seconds.

    Returns:
        The repository, ready for a database.

    Raises:
        TraceError: If it cannot be fetched, is not a Lean project, or no file can be traced.
        EngineUnavailableError: If no engine can serve it.
        UsageError: If there is no engine of that name.
    """
    project = repo.project
    workspace = read_workspace(project, fetch=build_deps)
    chosen = choose_engine(engine, project, workspace, jobs=jobs, timeout=timeout)
    files = workspace.all if build_deps else workspace.own
    unusable = [
        TracedFile(path, errors=(FileError(0, 0, why),)) for path, why in workspace.unusable.items()
    ]
    total = len(files) + len(unusable)
    with tqdm(total=total, desc="Tracing", unit="file", disable=None) as bar:

        def report(done: FileDone) -> None:
            bar.set_postfix_str(done.file.path, refresh=False)
            bar.update()
            if progress is not None:
                progress(done)

        traced = trace_files(files, workspace, chosen, report, total)
        for done, result in enumerate(unusable, len(files) + 1):
            report(FileDone(result, False, done, total))
    results = [*unusable, *(traced[file.module] for file in files)]
    own = {file.path for file in files if not file.package}.union(workspace.unusable)
    outside = [str(path) for path in project.outside()] if project.only is None else []
    repository = _assemble(repo, results, own, chosen.identity, date, outside=outside)
    if progress is None and (errors := repository.metadata.get(ERRORS_KEY)):
        _log.warning("%s: %d errors, the first: %s", repo, len(errors), errors[0])
    return repository


def trace_files(
    files: Sequence[SourceFile],
    workspace: Workspace,
    engine: Engine,
    report: Progress,
    total: int | None = None,
) -> dict[str, TracedFile]:
    """Trace files of a workspace, ``total`` in all, by the cache; return results by module."""
    state = engine.state()
    cache = TraceCache(engine.identity, state)
    traced: dict[str, TracedFile] = {}
    keys: dict[str, str] = {}
    pending: list[SourceFile] = []

    def finish(file: SourceFile, result: TracedFile, *, cached: bool) -> None:
        traced[file.module] = result
        report(FileDone(result, cached, len(traced), total or len(files)))

    for file in files:
        closure = workspace.closure(file.module)
        keys[file.module] = cache.key(file, closure, workspace.imports_of(file))
        known = cache.get(keys[file.module])
        if known is None:
            pending.append(file)
        else:
            finish(file, known, cached=True)
    if not pending:
        return traced
    with closing(engine.run(pending)) as outcomes:
        for file, outcome in outcomes:
            imports = workspace.imports_of(file)
            if isinstance(outcome, LeanError):
                failure = FileError(0, 0, str(outcome))
                finish(file, TracedFile(file.path, imports, errors=(failure,)), cached=False)
                continue
            result = extract(file.path, file.text, outcome, imports, workspace.path_of)
            # The build may have rewritten the manifest, which changes the key.
            if not outcome.in_memory and engine.state() == state:
                cache.put(keys[file.module], result)
            finish(file, result, cached=False)
    return traced


def _assemble(
    repo: LeanGitRepo,
    results: Sequence[TracedFile],
    own_paths: Container[str],
    engine: str,
    date: datetime | str | None,
    *,
    outside: Sequence[str],
) -> Repository:
    unsound = resting_on_errors(results)
    errors = list(_all_errors(results, unsound))
    if errors and not any(result.premises for result in results):
        raise TraceError(
            f"no file of {repo} could be traced with the {engine} engine:\n" + "\n".join(errors[:5])
        )
    when = date.isoformat() if isinstance(date, datetime) else date
    metadata: dict[str, object] = {
        "date_processed": when or datetime.now(UTC).isoformat(timespec="seconds"),
        "engine": engine,
    }
    if outside:
        metadata[OUTSIDE_KEY] = outside
    if errors:
        metadata[ERRORS_KEY] = errors
    own = [result for result in results if result.path in own_paths]
    sound = [
        (proof, rated(proof.bound(result.path, repo.url, repo.commit)))
        for result in own
        for proof in (*result.theorems, *result.elsewhere)
        if proof.constant not in unsound
    ]
    theorems = [(proof, made) for proof, made in sound if proof.kind == "theorem"]
    elsewhere = [(proof.kind, made) for proof, made in sound if proof.kind != "theorem"]
    metadata |= _counted(own, unsound, [kind for kind, _ in elsewhere])
    return Repository(
        repo.url,
        repo.commit,
        name=repo.name,
        lean_version=repo.lean_version,
        metadata=metadata,
        proven_theorems=[made for proof, made in theorems if not proof.has_sorry],
        sorry_theorems_unproved=[made for proof, made in theorems if proof.has_sorry],
        other_proofs=[made for _, made in elsewhere],
        premise_files=[PremiseFile(r.path, r.imports, r.premises) for r in results],
        files_traced=[result.path for result in results],
    )


def _counted(
    own: Sequence[TracedFile], unsound: Container[str], kinds: Iterable[str]
) -> dict[str, object]:
    """Count proofs outside theorems, and proofs and tactics left out, for the metadata."""
    left_out = Counter[str]()
    for result in own:
        left_out.update(result.left_out)
        proofs = (*result.theorems, *result.elsewhere)
        left_out[RESTING] += sum(proof.constant in unsound for proof in proofs)
    counts = {
        ELSEWHERE_KEY: Counter(kinds),
        LEFT_OUT_KEY: +left_out,
        STEPS_KEY: sum((Counter(result.steps_left_out) for result in own), Counter[str]()),
    }
    return {key: dict(sorted(found.items())) for key, found in counts.items() if found}


def _all_errors(results: Iterable[TracedFile], unsound: Container[str]) -> Iterator[str]:
    for result in results:
        yield from (f"{result.path}:{error}" for error in result.errors)
        for theorem in result.theorems:
            if theorem.constant in unsound:
                line, column = theorem.start
                yield (
                    f"{result.path}:{line}:{column}: {theorem.full_name} is left out: its proof "
                    "depends on something that has an error"
                )
