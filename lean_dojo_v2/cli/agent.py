"""``lean-dojo agent``: trace, train and prove in one go."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from lean_dojo_core import UsageError, registry
from lean_dojo_v2 import agent as agents, prover
from lean_dojo_v2.cli import parameters as args, run
from lean_dojo_v2.cli.long_commands import long_command
from lean_dojo_v2.cli.proving import ProvingOptions, prove_with, set_up


@click.group()
def agent() -> None:
    """Trace a repository, train on it, and prove its `sorry` theorems.

    The database is created if needed. After a kill, repeat the command: every part resumes where it
    stopped.
    """


@attrs.frozen(kw_only=True)
class _Where:
    source: str = args.argument(metavar="URL|PATH", type=click.Path())
    commit: str | None = args.commit_option
    database: Path | None = args.database_option(default=None)


@agent.command(
    cls=run.SettingsCommand,
    short_help="Train a causal language model (sft, expert-iteration, grpo); prove with it.",
)
@args.with_options
@long_command()
def hf(
    *,
    where: _Where = args.group(_Where),
    name: str = args.option(
        "--trainer",
        metavar="NAME",
        default="sft",
        shell_complete=args.complete_trainer,
        help="Trainer to use; the model in its output_dir proves.",
    ),
    files: tuple[Path, ...] = args.config_option,
    assignments: tuple[str, ...] = args.set_option,
    rewards: tuple[str, ...] = run.reward_option,
    asked: ProvingOptions = args.group(ProvingOptions),
) -> None:
    """Trace URL or PATH, train a causal language model on it, and prove with that."""
    set_up(asked)
    settings, section = run.gather(
        run.RunOptions(files, assignments, where.database, rewards=rewards)
    )
    trainer = run.make_trainer(registry.trainers[name], settings)
    made = agents.HFAgent(trainer, section.database_path, prover_config=asked.config())
    _run(made, section, where, asked)


@agent.command(short_help="Train a premise retriever; prove with the premises that it finds.")
@args.with_options
@long_command()
def lean(
    where: _Where = args.group(_Where),
    generator: str | None = args.option(
        metavar="MODEL", type=click.Path(), help="Generator: a folder or hub id."
    ),
    files: tuple[Path, ...] = args.config_option,
    assignments: tuple[str, ...] = args.set_option,
    asked: ProvingOptions = args.group(ProvingOptions),
) -> None:
    """Trace URL or PATH, train a premise retriever on it, and prove with retrieved premises."""
    set_up(asked)
    settings, section = run.gather(run.RunOptions(files, assignments, where.database))
    trainer = run.make_trainer(registry.trainers["retrieval"], settings)
    made = agents.LeanAgent(
        section.database_path, trainer.config, asked.config(), gen_ckpt_path=generator
    )
    made.trainer = trainer  # the agent's own trainer has only the config
    _run(made, section, where, asked)


@agent.command(
    short_help="Prove with a model behind an OpenAI-compatible endpoint, without training."
)
@args.with_options
@long_command()
def external(
    where: _Where = args.group(_Where),
    model: str | None = args.option(metavar="MODEL", help="Name of the model at the endpoint."),
    asked: ProvingOptions = args.group(ProvingOptions),
) -> None:
    """Trace URL or PATH and prove with a model behind an endpoint.

    Set OPENAI_BASE_URL and OPENAI_API_KEY (or HF_TOKEN alone) to choose the endpoint.
    """
    set_up(asked)
    _, section = run.gather(run.RunOptions(database=where.database))
    name = model or prover.DEFAULT_MODEL
    made = agents.ExternalAgent(name, section.database_path, asked.config())
    _run(made, section, where, asked)


def _run(
    made: agents.BaseAgent, section: run.RunSection, where: _Where, asked: ProvingOptions
) -> None:
    """Trace, train and prove; the data go to the folder of a file's ``run:`` section."""
    if section.repositories:
        raise UsageError(
            f"section {run.RUN_KEY!r}: an agent works on the repository that it traces and trains "
            "on the whole database, so it takes no repositories; `lean-dojo train` does"
        )
    made.data_path = section.data_path or made.data_path
    if where.commit is None and Path(where.source).expanduser().is_dir():
        made.setup_local_repository(where.source)
    else:
        made.setup_github_repository(where.source, where.commit or "")
    if made.trainer is not None:
        made.train()
    prove_with(made, asked)
