"""A set of statements as training data, without database and human proofs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import orjson
from tqdm import tqdm

from lean_dojo_core import DatasetFormatter
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_core.wording import counted
from lean_dojo_plugins.training.data import PLACE_COLUMNS, Stage, place_of
from lean_dojo_v2 import benchmarks, kinds, lean
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import METADATA_FILE, append_lines, atomic_write_bytes, read_lines
from lean_dojo_v2.prover import with_context
from lean_dojo_v2.settings import fields, record_of

STATEMENT_COLUMNS = ("problem", "prompt", "header", "project", *PLACE_COLUMNS)
"""Columns of the rows of statements; unused ones are ``None``."""
CHECKS = "statements.jsonl"
"""File with Lean's answers per statement, in a run's folder."""


def _sources(value: Any) -> tuple[StatementSource, ...]:
    """Take one set or several, each as :func:`statements_of` takes it."""
    several = isinstance(value, (list, tuple))
    found = (statements_of(one) for one in (value if several else (value,)))
    return tuple(one for one in found if one is not None)


@attrs.frozen
class StatementSource:
    """The setting ``statements``.

    Attributes:
        source: A ``.jsonl`` file, ``hub:OWNER/NAME[:SPLIT]``, or the name of a benchmark.
        project: Folder of a built Lean project that has the statements' imports.
        columns: Other names of the columns ``statement``, ``name``, ``header`` and ``split``.
        held_out: Sets whose statements are never trained on, whatever they are called there: one or
            several, each by its source alone, or as a mapping with ``source`` and ``columns``.
        check: Have Lean elaborate each statement before anything is trained, once.
    """

    source: str = attrs.field(converter=str)
    project: Path | None = attrs.field(default=None, converter=attrs.converters.optional(Path))
    columns: Mapping[str, str] = attrs.field(factory=dict, converter=benchmarks.columns_of)
    held_out: Any = attrs.field(default=(), converter=_sources)
    check: bool = True

    def benchmark(self) -> Any:
        """Return the benchmark that reads the set."""
        name, meant = benchmarks.benchmark_named(self.source)
        settings: dict[str, Any] = {**meant}
        if self.columns:
            settings |= {"columns": self.columns}
        if self.project is not None:
            settings |= {"project": self.project}
        return kinds.benchmarks[name].create(**settings)

    def read(self) -> Statements:
        """Read the set, without held-out and duplicate statements."""
        made = self.benchmark()
        beside, notes = getattr(made, "held_out", tuple), []  # its own, if it reads a single split
        secret = [
            row.problem.statement for row in beside() if isinstance(row, benchmarks.Statement)
        ]
        for one in self.held_out:
            texts, note = _held_out(one)
            secret += texts
            notes += [note] if note else []
        found = benchmarks.examine_statements(_rows(made), secret)
        if not found.problems:
            lines = "; ".join(found.lines()[1:]) or "it has no statements"
            raise EmptyDatasetError(f"there is nothing to train on: {lines}", path=self.source)
        return Statements(self.source, found, self.check, tuple(notes))


def statements_of(
    value: StatementSource | Mapping[str, Any] | str | Path | None,
) -> StatementSource | None:
    """Convert a source, or a mapping of its settings."""
    if value is None:
        return None
    if isinstance(value, str | Path):
        return StatementSource(str(value))
    if isinstance(value, Mapping):
        value = {key: fields.text_of_path(one) for key, one in value.items()}
    return record_of(StatementSource, value, "statements")


@attrs.define(slots=False, eq=False, kw_only=True)
class TrainsOnStatements:
    """A trainer with the setting ``statements``."""

    statements: StatementSource | str | None = attrs.field(
        default=None,
        converter=statements_of,
        metadata=fields.about(
            "Statements to prove, instead of a database's theorems: a JSONL file, "
            "hub:OWNER/NAME[:SPLIT], or the name of a benchmark; or a mapping with source, "
            "project, columns, held_out, check."
        ),
    )

    @property
    def own_data(self) -> str | None:
        """The source of the statements, if any is set."""
        found = statements_of(self.statements)
        return None if found is None else found.source

    @cached_property
    def statement_set(self) -> Statements | None:
        """The statements, if any are set, read once; raises as :meth:`StatementSource.read`."""
        found = statements_of(self.statements)
        return None if found is None else found.read()


def _rows(benchmark: Any) -> Iterable[benchmarks.Statement | UsageError]:
    """Read a set row by row if its benchmark supports it, else theorem by theorem."""
    read = getattr(benchmark, "statements", None)
    return map(benchmarks.Statement, benchmark.problems()) if read is None else read()


def _held_out(held: StatementSource) -> tuple[list[str], str]:
    """Return the statements of a held-out set, and what of it cannot be read, if any.

    If none can be read, that is an error, since all of them might be trained on.
    """
    source, rows = held.source, list(_rows(held.benchmark()))
    unread = [str(row) for row in rows if isinstance(row, UsageError)]
    if len(unread) == len(rows):
        why = unread[0] if unread else "it is empty"
        raise EmptyDatasetError(f"held_out: there is nothing that can be read: {why}", path=source)
    texts = [row.problem.statement for row in rows if isinstance(row, benchmarks.Statement)]
    if not unread:
        return texts, ""
    share = f"held out {len(texts)} of {counted(len(rows), 'row', 'rows')}"
    return texts, f"{source}: {share}; the others cannot be read, such as {unread[0]}"


@attrs.frozen
class Statements:
    """Statements to prove: data without a database, of a single stage.

    ``url`` is their source, ``check`` whether Lean elaborates each before training; ``notes`` are
    about unreadable rows of held-out sets.
    """

    url: str
    examined: benchmarks.ExaminedStatements = attrs.field(repr=False)
    check: bool = True
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[BenchmarkProblem, ...]:
        """The statements."""
        return self.examined.problems

    @property
    def commit(self) -> str:
        """A digest of the statements, which identifies the run."""
        return sha256("".join(map(_key, self.problems)).encode()).hexdigest()[:40]

    @property
    def stages(self) -> list[Stage]:
        """The whole set."""
        return [Stage(self.url, self.commit)]

    def export(self, stages: int, folder: Path) -> None:  # noqa: ARG002 - there is only one
        """Write the metadata; the statements themselves are in :meth:`rows`."""
        about = {"url": self.url, "commit": self.commit, "statements": len(self.problems)}
        atomic_write_bytes(folder / METADATA_FILE, orjson.dumps({"repositories": [about]}))

    def rows(self, formatter: DatasetFormatter) -> Iterator[dict[str, Any]]:
        """Yield a row for each statement, with :data:`STATEMENT_COLUMNS`."""
        for one in self.problems:
            theorem = one.theorem
            yield {
                "problem": one.statement,
                "prompt": formatter.prompt(with_context(one.header or "", one.statement)),
                "header": one.header,
                "project": None if one.project is None else str(one.project),
                **(dict.fromkeys(PLACE_COLUMNS) if theorem is None else place_of(theorem)),
                "full_name": one.full_name,
            }

    def say(self) -> None:
        """Print on standard error what is trained on, and what is left out."""
        for line in self.examined.lines():
            print(f"{self.url}: {line}", file=sys.stderr)
        for line in self.notes:
            print(line, file=sys.stderr)

    def elaborated(self, folder: Path, *, quiet: bool = False) -> Statements:
        """Leave out what Lean does not elaborate, if that is to be checked, and say how many.

        The answers are kept in the run's ``folder``; no statement is asked about twice. With
        ``quiet`` another process says it.
        """
        broken = elaborate(self.problems, folder / CHECKS) if self.check else []
        if not broken:
            return self
        names = {name for name, _ in broken}
        share = 100 * len(names) / len(self.problems)
        name, why = broken[0]
        if not quiet:
            told = f"{len(names)} ({share:.1f} %) that Lean does not elaborate, such as {name}"
            print(f"{self.url}: left out: {told}: {why}", file=sys.stderr)
        kept = tuple(one for one in self.problems if one.full_name not in names)
        if not kept:
            raise EmptyDatasetError(f"Lean elaborates none of them; {name}: {why}", path=self.url)
        return attrs.evolve(self, examined=attrs.evolve(self.examined, problems=kept))


def elaborate(problems: Sequence[BenchmarkProblem], file: Path) -> list[tuple[str, str]]:
    """Return the statements that Lean does not elaborate, with its message; ``file`` keeps all."""
    known = {line["key"]: line["error"] for line in read_lines(file)}
    asked = [one for one in problems if _key(one) not in known]
    if asked:
        file.parent.mkdir(parents=True, exist_ok=True)
        print(f"Lean checks {counted(len(asked), 'statement', 'statements')}", file=sys.stderr)
        engines = lean.shared_engines()
        try:
            answers = [(one, _asked(engines, one)) for one in asked]
            for one, answer in tqdm(answers, desc="statements", mininterval=10, disable=None):
                try:
                    error = answer.result()
                except (lean.EngineKilledError, lean.EngineLostError) as lost:
                    error = str(lost)
                known[_key(one)] = error
                append_lines(file, [{"key": _key(one), "name": one.full_name, "error": error}])
        finally:
            engines.close()
        print(f"{counted(len(asked), 'statement', 'statements')} elaborated", file=sys.stderr)
    return [(one.full_name, known[_key(one)]) for one in problems if known[_key(one)]]


def _asked(engines: lean.SharedEngines, problem: BenchmarkProblem) -> Future[str]:
    project, theorem = benchmarks.project_of(problem), problem.theorem
    header = problem.header if theorem is None else theorem.file_path
    return engines.submit(project, _error, problem, project, header=header, name=problem.full_name)


def _error(server: lean.Server, problem: BenchmarkProblem, project: Path | None) -> str:
    try:
        benchmarks.problem_of(problem, project).open(server)
    except (lean.EngineLostError, lean.EngineUnavailableError):
        raise  # the pool retries; a missing engine is not an answer
    except lean.LeanError as error:
        return str(error) or "no reason"
    return ""


def _key(problem: BenchmarkProblem) -> str:
    text = f"{problem.full_name}\0{problem.header}\0{problem.statement}\0{problem.project}\0"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
