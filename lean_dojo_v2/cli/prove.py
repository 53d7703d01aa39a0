"""``lean-dojo prove``."""

from __future__ import annotations

from pathlib import Path

import click

from lean_dojo_core import Theorem, UsageError
from lean_dojo_core.wording import did_you_mean
from lean_dojo_v2 import agent as agents, tracing
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.output import note
from lean_dojo_v2.cli.prove_given import prove_given
from lean_dojo_v2.cli.provers import ClusterChoice
from lean_dojo_v2.cli.proving import ProveTarget, ProvingOptions, prove_with, set_up
from lean_dojo_v2.cli.run import open_database, select_repositories


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
        prove_given(what, choice, asked)


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
    open_ones: set[object] = set()
    for repo in agent.repos:
        repository = agent.database.get_repository(repo.url, repo.commit)
        assert repository is not None
        open_ones |= {theorem.identity for theorem in repository.sorry_theorems_unproved}
        elsewhere = {proof.identity for proof in repository.other_proofs}
        for theorem in repository.iter_theorems():
            if theorem.identity in elsewhere:  # in a def, for example: not a theorem
                continue
            names.add(theorem.full_name)
            if theorem.full_name == name:
                found.append((theorem, repo))
    if not found:
        raise UsageError(f"{database}: no theorem {name!r}.{did_you_mean(name, sorted(names))}")
    if len(found) > 1:
        places = ", ".join(f"{theorem.file_path}:{theorem.start[0]}" for theorem, _ in found)
        raise UsageError(f"{database}: {places} are all called {name!r}; choose with --repo")
    return found, found[0][0].identity not in open_ones
