"""``lean-dojo prove``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.names import complete_formatter, complete_path
from lean_dojo_v2.cli.options import database_option, repo_option
from lean_dojo_v2.cli.proving import ProvingOptions, prove_with, proving_options, set_up
from lean_dojo_v2.cli.run import open_database, select_repositories
from lean_dojo_v2.cli.waiting import long_command

if TYPE_CHECKING:
    from lean_dojo_v2.agent import ProverAgent
    from lean_dojo_v2.lean_agent.config import ProverConfig
    from lean_dojo_v2.prover import BaseProver


@click.command(short_help="Prove a database's `sorry` theorems with a trained model.")
@database_option()
@repo_option
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the repository's files as they were traced (default: they are cloned).",
)
@click.option(
    "--model",
    metavar="MODEL",
    shell_complete=complete_path,
    help="Model that sft or grpo trained: a folder or hub id.",
)
@click.option("--lora", is_flag=True, help="The model must be a LoRA adapter.")
@click.option("--external", metavar="MODEL", help="Model behind an OpenAI-compatible endpoint.")
@click.option(
    "--formatter",
    metavar="NAME",
    default="tactic-chat",
    show_default=True,
    shell_complete=complete_formatter,
    help="Dataset formatter that --model was trained with.",
)
@click.option(
    "--device",
    metavar="DEVICE",
    default="auto",
    show_default=True,
    help="Where --model runs: auto, cpu, cuda or mps.",
)
@proving_options
@long_command()
def prove(
    *,
    database: Path,
    repositories: tuple[str, ...],
    project: Path | None,
    model: str | None,
    lora: bool,
    external: str | None,
    formatter: str,
    device: str,
    **options: Any,
) -> None:
    """Prove a database's `sorry` theorems with a trained model.

    Every proof is checked by Lean as a whole, recorded in the database at once, and appended to
    proofs.jsonl beside it; a killed run goes on with the theorems that are left.

    Exits with 0 also where nothing was proved, with 1 where the work could not be done.
    """
    asked = ProvingOptions(**options)
    if (model is None) == (external is None):
        raise UsageError("name one model: --model DIR, or --external MODEL")
    set_up(asked)
    if not database.is_file():
        open_database(database)  # says what to do

    def make_prover(config: ProverConfig) -> BaseProver:
        if external is not None:
            from lean_dojo_v2.prover import ExternalProver

            return ExternalProver(external, config, formatter=formatter)
        from lean_dojo_v2.prover import HFProver

        return HFProver(str(model), lora, device, config=config, formatter=formatter)

    from lean_dojo_v2.agent import ProverAgent

    agent = ProverAgent(make_prover, database, asked.config())
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
