"""``lean-dojo prove`` with what it is given: a goal, a file, a list of problems."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.benchmarks.runner import SERVER_TIMEOUT, engines_for
from lean_dojo_v2.cli.output import emit_json, note
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.prover.problem import GoalProblem, Problem
from lean_dojo_v2.prover.search.drawing import save_drawing
from lean_dojo_v2.prover.search.result import Failure, SearchResult

if TYPE_CHECKING:
    from lean_dojo_core.records import BenchmarkProblem
    from lean_dojo_v2.cli.prove_what import What
    from lean_dojo_v2.cli.provers import ProverChoice
    from lean_dojo_v2.cli.proving import ProvingOptions
    from lean_dojo_v2.prover.sorries import Sorry, UnprovedDeclaration

Told = Callable[[int, SearchResult], None]


def prove_given(what: What, choice: ProverChoice, asked: ProvingOptions) -> None:
    """Prove a goal, the ``sorry``s of a file or the theorems of a list, and print the results.

    Raises:
        UsageError: If what is given is no goal, file or list.
        LeanError: If the work cannot be done.
    """
    work = _Work(choice, asked, project=what.project)
    if what.problems is not None:
        rows, extra = _list(work, what.problems), {"proofs": str(_log_of(what.problems))}
    else:
        try:
            if what.file is not None:
                rows, extra = _file(work, what.file), {}
            else:
                rows, extra = _goal(work, str(what.goal), what.imports), {}
        except KeyboardInterrupt as error:  # nothing is kept that could be gone on with
            raise click.Abort from error
    proved = sum(row["success"] for row in rows)
    if asked.as_json:
        emit_json({"found": len(rows), "proved": proved, **extra, "theorems": rows})
    else:
        click.echo(f"Proved {proved} of {len(rows)} theorems")


# --- what is given -------------------------------------------------------------------------------


def _goal(work: _Work, goal: str, imports: Sequence[str]) -> list[dict[str, Any]]:
    work.imports = tuple(imports) or ("Init",)
    [result] = work.results([GoalProblem(goal)])
    if result.reason is Failure.CANNOT_OPEN:
        raise UsageError(f"--goal: {result.detail}")
    return [_told(result)]


def _file(work: _Work, file: Path) -> list[dict[str, Any]]:
    from lean_dojo_v2.atomic import atomic_write_bytes
    from lean_dojo_v2.lean.text.source import read_source
    from lean_dojo_v2.prover.sorries import find_sorries
    from lean_dojo_v2.tracing.project.lakefile import project_of

    try:
        text = read_source(file)
    except UnicodeDecodeError as error:
        raise DataError(f"is no text: {error}", path=file) from error
    work.project = work.project or project_of(file)
    with ExitStack() as stack:
        server = stack.enter_context(work.server())
        found, errors = find_sorries(server, text, str(file))
        for said in errors:
            note(f"Lean says of the file as it is: {said}")
        note(f"{file}: {len(found)} sorry" if found else f"{file}: there is no sorry in it")
        found = found[: work.asked.limit]
        results = _of_sorries(work, found, server)
        finished, results = _finished(server, found, results)
    if work.asked.write_patch is not None:
        patch = _patch(file, text, finished)
        atomic_write_bytes(work.asked.write_patch, patch.encode())
        note(f"{len(finished)} theorems → {work.asked.write_patch}")
    return [
        _told(result, line=sorry.line, column=sorry.column, theorem=sorry.declaration.name)
        for sorry, result in zip(found, results, strict=True)
    ]


def _of_sorries(work: _Work, found: Sequence[Sorry], server: Server) -> list[SearchResult]:
    """Search each ``sorry`` that stands in a theorem."""
    results = {
        index: SearchResult(
            sorry.name, False, reason=Failure.CANNOT_OPEN, detail=sorry.declaration.trouble
        )
        for index, sorry in enumerate(found)
        if sorry.declaration.trouble
    }
    for result in results.values():
        work.say(result)
    left = [index for index in range(len(found)) if index not in results]
    tried = work.results([found[index].problem() for index in left], server)
    results |= dict(zip(left, tried, strict=True))
    return [results[index] for index in range(len(found))]


def _finished(
    server: Server, found: Sequence[Sorry], results: Sequence[SearchResult]
) -> tuple[list[tuple[UnprovedDeclaration, str]], list[SearchResult]]:
    """Check every theorem that has no ``sorry`` left as a whole; what is in none counts not."""
    of: dict[int, list[int]] = {}
    for index, sorry in enumerate(found):
        of.setdefault(sorry.declaration.start, []).append(index)
    finished: list[tuple[UnprovedDeclaration, str]] = []
    judged = list(results)
    for indices in of.values():
        declaration = found[indices[0]].declaration
        proofs = {
            found[index].number: str(results[index].proof)
            for index in indices
            if results[index].success
        }
        detail = ""
        if proofs and len(proofs) == len(declaration.sorries):
            outcome, text = declaration.check(server, proofs)
            if outcome.valid:
                finished.append((declaration, text))
                continue
            detail, reason = f"together with the others: {outcome.detail}", Failure.REFUSED
        else:
            detail, reason = f"closed; {declaration.name} has another sorry", Failure.UNFINISHED
        for index in indices:
            if results[index].success:
                judged[index] = attrs.evolve(
                    results[index], success=False, reason=reason, detail=detail
                )
                note(str(judged[index]))
    return finished, judged


def _list(work: _Work, file: Path) -> list[dict[str, Any]]:
    from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
    from lean_dojo_v2.benchmarks.source import problem_of

    log = _log_of(file)
    problems = JsonlBenchmark(file, work.project).problems()
    done = _logged(log)
    todo = [problem for problem in problems if _key(problem) not in done]
    if len(todo) < len(problems):
        note(f"{len(problems) - len(todo)} of {len(problems)} have a proof in {log} already")
    todo = todo[: work.asked.limit]

    def keep(index: int, result: SearchResult) -> None:
        if result.success:
            _append(log, {**_key_fields(todo[index]), "proof": result.proof})

    results = work.results([problem_of(problem) for problem in todo], told=keep)
    return [_told(result) for result in results]


# --- the work ------------------------------------------------------------------------------------


@attrs.define
class _Work:
    """Who proves, with which limits and engines."""

    choice: ProverChoice
    asked: ProvingOptions
    project: Path | None = None
    imports: tuple[str, ...] = ("Init",)

    def server(self) -> Server:
        return Server(self.imports, project_path=self.project, start=False, timeout=SERVER_TIMEOUT)

    def results(
        self, problems: Sequence[Problem], server: Server | None = None, told: Told | None = None
    ) -> list[SearchResult]:
        """Search problems, or have their proofs written, and say what came out of each."""
        if not problems:
            return []
        prover = self.choice.make(self.asked.config())
        found: dict[int, SearchResult] = {}
        with ExitStack() as stack:
            count = engines_for(self.asked.workers, len(problems), self.asked.batch_size)
            more = count if server is None else count - 1
            servers = [] if server is None else [server]
            servers += [stack.enter_context(self.server()) for _ in range(more)]
            for index, result in self._run(prover, problems, servers):
                found[index] = result
                if told is not None:
                    told(index, result)
                self.say(result)
        return [found[index] for index in range(len(problems))]

    def _run(
        self, prover: Any, problems: Sequence[Problem], servers: Sequence[Server]
    ) -> Iterator[tuple[int, SearchResult]]:
        if not self.asked.whole_proof:
            options = {"verbose": True} if self.asked.verbose else {}
            yield from prover.search_many(problems, servers, **options)
            return
        from lean_dojo_v2.prover.suggestion import GeneratorError, Patience
        from lean_dojo_v2.prover.whole_proof import prove_whole

        patience = Patience()
        for index, problem in enumerate(problems):
            try:
                yield index, prove_whole(prover, servers[0], problem)
                patience.answered()
            except GeneratorError as error:
                patience.failed(error)
                yield (
                    index,
                    SearchResult(problem.name, False, reason=Failure.GENERATOR, detail=str(error)),
                )

    def say(self, result: SearchResult) -> None:
        from lean_dojo_v2.paths import safe_name

        click.echo(str(result))
        for tactic in result.tactics or ():
            click.echo(f"  {tactic}")
        if self.asked.save_tree is not None and result.tree is not None:
            file = self.asked.save_tree / safe_name(result.name)
            result.tree.save(file.with_name(f"{file.name}.json"))
            save_drawing(result.tree, file.with_name(f"{file.name}.svg"))


def _told(result: SearchResult, **where: Any) -> dict[str, Any]:
    return {**result.to_dict(), **where}


# --- files ---------------------------------------------------------------------------------------


def _patch(file: Path, text: str, finished: Sequence[tuple[UnprovedDeclaration, str]]) -> str:
    """Give a unified diff of the file with the finished theorems."""
    new = text
    for declaration, filled in sorted(finished, key=lambda one: -one[0].start):
        end = declaration.start + len(declaration.written)
        new = new[: declaration.start] + filled + new[end:]
    path = file.as_posix().lstrip("/")
    ending = "\r\n" if b"\r\n" in file.read_bytes() else "\n"
    old_lines, new_lines = (
        [line.replace("\n", ending) for line in re.findall(r"[^\n]*\n|[^\n]+", one)]
        for one in (text, new)
    )
    lines = difflib.unified_diff(old_lines, new_lines, f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _log_of(problems: Path) -> Path:
    return Path(f"{problems.stem}.proofs.jsonl")


def _key_fields(problem: BenchmarkProblem) -> dict[str, str]:
    return {
        "name": problem.full_name,
        "header": problem.header or "",
        "statement": problem.statement,
    }


def _key(problem: BenchmarkProblem) -> tuple[str, ...]:
    return tuple(_key_fields(problem).values())


def _append(log: Path, record: Mapping[str, Any]) -> None:
    import os

    with log.open("ab+") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":  # a machine that went down left half a line
                stream.write(b"\n")
        stream.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        stream.flush()
        os.fsync(stream.fileno())


def _logged(log: Path) -> set[tuple[str, ...]]:
    """Read which theorems have a proof in a log."""
    found: set[tuple[str, ...]] = set()
    lines = log.read_bytes().split(b"\n") if log.is_file() else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
            found.add((record["name"], record["header"], record["statement"]))
        except orjson.JSONDecodeError:
            continue  # half a line; its theorem is proved again
        except (KeyError, TypeError) as error:
            raise DataError(
                f"is no proof of `lean-dojo prove`: {error}", path=log, place=f"line {number}"
            ) from error
    return found
