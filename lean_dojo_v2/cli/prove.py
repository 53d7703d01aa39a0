"""``lean-dojo prove``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.options import database_option, repo_option
from lean_dojo_v2.cli.provers import ProverChoice, prover_options
from lean_dojo_v2.cli.proving import ProvingOptions, prove_with, proving_options, set_up
from lean_dojo_v2.cli.run import open_database, select_repositories
from lean_dojo_v2.cli.waiting import long_command

if TYPE_CHECKING:
    from lean_dojo_v2.agent import ProverAgent


@click.command(short_help="Prove a database's `sorry` theorems with a trained model.")
@database_option()
@repo_option
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the repository's files as they were traced (default: they are cloned).",
)
@prover_options
@proving_options
@long_command()
def prove(
    *,
    database: Path,
    repositories: tuple[str, ...],
    project: Path | None,
    **options: Any,
) -> None:
    """Prove a database's `sorry` theorems with a trained model, or any other prover.

    Every proof is checked by Lean as a whole, recorded in the database at once, and appended to
    proofs.jsonl beside it; a killed run goes on with the theorems that are left.

    Exits with 0 also where nothing was proved, with 1 where the work could not be done.
    """
    names = [field.name for field in attrs.fields(ProverChoice)]
    choice = ProverChoice(**{name: options.pop(name) for name in names})
    asked = ProvingOptions(**options)
    if not choice.is_given:
        raise UsageError(
            "name one model: --model DIR or --external MODEL; or a prover: --prover NAME "
            "(`automation` needs no model)"
        )
    set_up(asked)
    if not database.is_file():
        open_database(database)  # says what to do
    choice.resolved()  # a mistake is said now, not when the engines run

    from lean_dojo_v2.agent import ProverAgent

    agent = ProverAgent(choice.make, database, asked.config())
    _choose(agent, repositories, project, database)
    prove_with(agent, asked)


def _choose(
    agent: ProverAgent, wanted: tuple[str, ...], project: Path | None, database: Path
) -> None:
    """Have the agent work on the wanted repositories of its database."""
    from lean_dojo_v2.tracing import LeanGitRepo

    chosen = select_repositories(agent.database, wanted, database)
    if project is not None and len(chosen) != 1:
        raise UsageError("--project is for one repository; choose it with --repo")
    folder = None if project is None else project.absolute()
    agent.repos = [
        LeanGitRepo(repository.url, repository.commit, folder=folder) for repository in chosen
    ]
