"""``lean-dojo prove``: theorems of a database, a goal, a file or a list of problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import BenchmarkProblem, Theorem, UsageError
from lean_dojo_core.wording import counted, did_you_mean
from lean_dojo_v2 import agent as agents, benchmarks, files, lean, prover, tracing
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import emit_json, note
from lean_dojo_v2.cli.provers import ClusterChoice
from lean_dojo_v2.cli.proving import ProveTarget, ProvingOptions, prove_with, set_up
from lean_dojo_v2.cli.run import open_database, select_repositories
from lean_dojo_v2.errors import UnreadableFileError


@click.command()
@args.with_options
@long_command()
def prove(
    what: ProveTarget = args.group(ProveTarget),
    choice: ClusterChoice = args.group(ClusterChoice),
    asked: ProvingOptions = args.group(ProvingOptions),
) -> None:
    """Prove a goal, the `sorry`s of a file, or those of a database.

    Without --goal, --theorem, --file or --problems, tries the `sorry` theorems of the database.
    Without --model, the shipped model and Lean's own automation prove together.

    Lean verifies every proof in full. Proofs for a database are recorded in it at once, and
    appended to proofs.jsonl beside it. Proofs for --problems are appended to NAME.proofs.jsonl in
    the current folder. If the command is killed, run it again to continue with the remaining
    theorems; a goal or a file starts anew.

    Exits with 0 even if nothing was proved, and with 1 if the work could not be done.
    """
    set_up(asked)
    if asked.write_patch is not None and (what.goal or what.problems):
        raise UsageError("--write-patch works for theorems in files: use --file or a database")
    choice.resolved()  # report mistakes before anything runs
    if choice.default_notice:
        note(choice.default_notice)
    if what.goal is None and what.file is None and what.problems is None:
        _prove_traced(what, choice, asked)
    else:
        _prove_given(what, choice, asked)


def _prove_traced(what: ProveTarget, choice: ClusterChoice, asked: ProvingOptions) -> None:
    database = what.database or args.DEFAULT_DATABASE
    if not database.is_file():
        open_database(database)  # raises if it is missing
    agent = agents.ProverAgent(choice.make, database, asked.config())
    chosen = select_repositories(agent.database, what.repositories, database)
    if what.project is not None and len(chosen) != 1:
        raise UsageError("--project is for one repository; choose it with --repo")
    folder = None if what.project is None else what.project.absolute()
    agent.repos = [tracing.LeanGitRepo(one.url, one.commit, folder=folder) for one in chosen]
    if what.theorem is not None:
        only, proved = _find(agent, what.theorem, database)
        if proved:
            note(f"{what.theorem} already has a proof, which the database keeps.")
        agent.only = only
    prove_with(agent, asked)


def _find(
    agent: agents.ProverAgent, name: str, database: Path
) -> tuple[list[tuple[Theorem, tracing.LeanGitRepo]], bool]:
    """Find the one theorem of this full name, and whether it has a proof."""
    names: set[str] = set()
    found: list[tuple[Theorem, tracing.LeanGitRepo]] = []
    proved = False
    for repo in agent.repos:
        repository = agent.database.get_repository(repo.url, repo.commit)
        assert repository is not None
        for of in ("proven_theorems", "sorry_theorems_proved", "sorry_theorems_unproved"):
            for theorem in repository.iter_list(of):
                names.add(theorem.full_name)
                if theorem.full_name == name:
                    found.append((theorem, repo))
                    proved = of != "sorry_theorems_unproved"
    if not found:
        raise UsageError(f"{database}: no theorem {name!r}.{did_you_mean(name, sorted(names))}")
    if len(found) > 1:
        places = ", ".join(f"{theorem.file_path}:{theorem.start[0]}" for theorem, _ in found)
        raise UsageError(f"{database}: {places} are all called {name!r}; choose with --repo")
    return found, proved


def _prove_given(what: ProveTarget, choice: ClusterChoice, asked: ProvingOptions) -> None:
    """Prove a goal, the ``sorry``s of a file or the theorems of a list, and print the results."""
    work = _Work(choice, asked, project=what.project)
    if what.problems is not None:
        _emit(asked, _list(work, what.problems), proofs=str(_log_of(what.problems)))
        return
    try:
        if what.file is not None:
            _prove_file(work, what.file)
        else:
            work.imports = what.imports or ("Init",)
            [(_, result)] = work.search([prover.GoalProblem(str(what.goal))])
            if result.reason is prover.Failure.CANNOT_OPEN:
                raise UsageError(f"--goal: {result.detail}")
            _emit(asked, [result])
    except KeyboardInterrupt as error:  # nothing was kept to resume from
        raise click.Abort from error


def _emit(asked: ProvingOptions, results: Sequence[prover.SearchResult], **more: str) -> None:
    proved = sum(result.success for result in results)
    rows = [result.to_dict() for result in results]
    if asked.as_json:
        emit_json({"found": len(rows), "proved": proved, **more, "theorems": rows})
    else:
        click.echo(f"Proved {proved} of {len(rows)} theorems")


def _prove_file(work: _Work, file: Path) -> None:
    """Prove the ``sorry``s of a file, and print the results."""
    try:
        written = files.read_named(file)
        text = lean.lean_text(written)
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"is not UTF-8: {error}", path=file) from error
    work.project = work.project or tracing.project_of(file)
    with work.server() as server:
        found, errors = prover.find_sorries(server, text, str(file))
        for said in errors:
            note(f"Lean reports for the file as it is: {said}")
        nothing = "it contains no sorry, so there is nothing to prove"
        note(f"{file}: {len(found)} sorry" if found else f"{file}: {nothing}")
        found = found[: work.asked.limit]
        results = _of_sorries(work, found, server)
        finished, results = _finished(server, found, results)
    if work.asked.write_patch is not None:
        places = lean.PositionMap(text)
        changes = [
            (places.position(one.start), places.position(one.start + len(one.written)), filled)
            for one, filled in finished
        ]
        patch = agents.file_patch(written, changes, _path_in(work.project, file))
        files.atomic_write_bytes(work.asked.write_patch, patch.encode())
        note(f"{len(finished)} theorems → {work.asked.write_patch}")
    proved = sum(result.success for result in results)
    if work.asked.as_json:
        where = [
            {"line": one.line, "column": one.column, "theorem": one.declaration.name}
            for one in found
        ]
        rows = [result.to_dict() | place for result, place in zip(results, where, strict=True)]
        completed = [declaration.name for declaration, _ in finished]
        emit_json({"found": len(rows), "proved": proved, "completed": completed, "sorries": rows})
    elif found:
        theorems = len({one.declaration.start for one in found})
        click.echo(
            f"Proved {proved} of {counted(len(found), 'sorry', 'sorries')}, and so "
            f"{len(finished)} of {counted(theorems, 'theorem')}"
        )


def _of_sorries(
    work: _Work, found: Sequence[prover.Sorry], server: lean.Server
) -> list[prover.SearchResult]:
    """Search each ``sorry`` inside a theorem."""
    results = {
        index: prover.SearchResult(
            sorry.name, False, reason=prover.Failure.CANNOT_OPEN, detail=sorry.declaration.trouble
        )
        for index, sorry in enumerate(found)
        if sorry.declaration.trouble
    }
    for result in results.values():
        work.say(result)
    left = [index for index in range(len(found)) if index not in results]
    for number, result in work.search([found[index].problem() for index in left], server):
        results[left[number]] = result
    return [results[index] for index in range(len(found))]


def _finished(
    server: lean.Server, found: Sequence[prover.Sorry], results: Sequence[prover.SearchResult]
) -> tuple[list[tuple[prover.UnprovedDeclaration, str]], list[prover.SearchResult]]:
    """Verify every theorem with no ``sorry`` left; a ``sorry`` outside a theorem does not count."""
    of: dict[int, list[int]] = {}
    for index, sorry in enumerate(found):
        of.setdefault(sorry.declaration.start, []).append(index)
    finished: list[tuple[prover.UnprovedDeclaration, str]] = []
    judged = list(results)
    for indices in of.values():
        declaration = found[indices[0]].declaration
        proofs = {
            found[index].number: str(results[index].proof)
            for index in indices
            if results[index].success
        }
        reason = prover.Failure.UNFINISHED
        detail = f"closed; {declaration.name} has another sorry"
        if proofs and len(proofs) == len(declaration.sorries):
            outcome, text = declaration.check(server, proofs)
            if outcome.valid:
                finished.append((declaration, text))
                continue
            reason, detail = prover.Failure.REFUSED, f"together with the others: {outcome.detail}"
        for index in indices:
            if results[index].success:
                judged[index] = attrs.evolve(
                    results[index], success=False, reason=reason, detail=detail
                )
                note(str(judged[index]))
    return finished, judged


def _list(work: _Work, file: Path) -> list[prover.SearchResult]:
    log = _log_of(file)
    problems = benchmarks.JsonlBenchmark(file, work.project).problems()[: work.asked.limit]
    results = {
        key: prover.SearchResult(key[0], True, proof=proof, detail=f"proved before, in {log}")
        for key, proof in _logged(log).items()
    }
    todo = [problem for problem in problems if _key(problem) not in results]
    if len(todo) < len(problems):
        note(f"{len(problems) - len(todo)} of {len(problems)} have a proof in {log} already")
    for index, result in work.search([benchmarks.problem_of(problem) for problem in todo]):
        name, header, statement = key = _key(todo[index])
        results[key] = result
        if result.success:
            proved = {"name": name, "header": header, "statement": statement}
            files.append_lines(log, [{**proved, "proof": result.proof}])
    return [results[_key(problem)] for problem in problems]


@attrs.define
class _Work:
    """The prover with its limits and engines."""

    choice: ClusterChoice
    asked: ProvingOptions
    project: Path | None = None
    imports: tuple[str, ...] = ("Init",)

    def server(self) -> lean.Server:
        return lean.Server(
            self.imports, project_path=self.project, start=False, timeout=benchmarks.SERVER_TIMEOUT
        )

    def search(
        self, problems: Sequence[prover.Problem], server: lean.Server | None = None
    ) -> Iterator[tuple[int, prover.SearchResult]]:
        """Search problems or sample their proofs; each result is printed after it is yielded."""
        if not problems:
            return
        with ExitStack() as stack:
            count = benchmarks.engines_for(
                self.asked.num_workers, len(problems), self.asked.batch_size
            )
            servers = [] if server is None else [server]
            while len(servers) < count:
                servers.append(stack.enter_context(self.server()))
            if not self.choice.ray:  # a cluster's engines are elsewhere
                benchmarks.start_together(servers)
            made = self.choice.make(self.asked.config())
            if self.asked.whole_proof:
                made = prover.WholeProofs(made)
            for index, result in made.search_many(problems, servers, verbose=self.asked.debug):
                yield index, result
                self.say(result)

    def say(self, result: prover.SearchResult) -> None:
        click.echo(str(result))
        for tactic in result.tactics or ():
            click.echo(f"  {tactic}")
        if self.asked.save_tree is not None:
            prover.save_tree(result.tree, self.asked.save_tree, result.name)


def _path_in(project: Path | None, file: Path) -> str:
    """Return a file's path in its project, or below the current folder."""
    full = file.resolve()
    for folder in (project, Path.cwd()):
        if folder is not None and full.is_relative_to(folder.resolve()):
            return full.relative_to(folder.resolve()).as_posix()
    return full.as_posix().lstrip("/")


def _log_of(problems: Path) -> Path:
    return Path(f"{problems.stem}.proofs.jsonl")


def _key(problem: BenchmarkProblem) -> tuple[str, ...]:
    return problem.full_name, problem.header or "", problem.statement


def _logged(log: Path) -> dict[tuple[str, ...], str]:
    """Read the proofs of a log, keyed by theorem."""

    def proof_of(name: str, header: str, statement: str, proof: str, **_: object) -> Any:
        return (name, header, statement), proof

    return dict(files.read_records(log, proof_of, "a proof of `lean-dojo prove`"))
