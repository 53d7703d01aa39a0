"""What ``prove`` and ``agent`` share: the options of proof search, and its results."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.options import (
    ANY_FILE,
    FOLDER,
    NEW_FOLDER,
    NUMBER,
    filled_by,
    json_option,
    option,
)
from lean_dojo_v2.cli.output import emit_json, note

if TYPE_CHECKING:
    from lean_dojo_v2.agent import BaseAgent
    from lean_dojo_v2.lean_agent.config import ProverConfig


_AMOUNT: dict[str, Any] = {"metavar": "X", "type": click.FloatRange(min=0)}
save_tree_option = click.option(
    "--save-tree",
    **NEW_FOLDER,
    help="Save every search tree in this folder, as JSON and as a picture (SVG).",
)


@attrs.frozen(kw_only=True)
class SearchOptions:
    """The options of proof search."""

    samples: int = option(**NUMBER, default=64, help="Tactics sampled per state.")
    expansions: int = option(
        **NUMBER, default=100, help="Maximum number of states expanded per theorem."
    )
    heartbeats: int = option(
        **NUMBER, default=20_000, help="Lean heartbeats that one tactic may use."
    )
    timeout: int = option(
        metavar="SECONDS",
        type=NUMBER["type"],
        default=600,
        help="Maximum seconds per theorem: a safety net.",
    )
    seed: int = option(
        metavar="N", type=click.IntRange(min=0), default=0, help="Seed of the sampling."
    )
    temperature: float | None = option(
        **_AMOUNT, help="Sampling temperature (default: the prover's own)."
    )
    length_exponent: float = option(
        **_AMOUNT, default=0.0, help="Divide a path's log-probability by its length to this power."
    )
    visits: int = option(
        **NUMBER, default=1, help="How often a state may be expanded, each time with new samples."
    )
    revisit_cost: float | None = option(
        **_AMOUNT,
        help="Cost of revisiting a state (default: states are revisited when no other is left).",
    )
    progress_model: Path | None = option(
        **FOLDER,
        help="Guide the search with this model of the progress trainer (also LEANPROGRESS_MODEL).",
    )
    progress_weight: float = option(
        **_AMOUNT,
        default=0.5,
        help="Weight of its prediction of the steps that remain.",
    )
    batch_size: int = option(
        **NUMBER, default=12, help="States of different theorems that are expanded together."
    )
    workers: int = option(
        "-j",
        "--workers",
        "--jobs",
        "workers",
        **NUMBER,
        default=4,
        help="Lean engines to run in parallel, at most one per core.",
    )
    verbose: bool = option("-v", "--verbose", is_flag=True, help="Print every state on stderr.")

    def config(self) -> ProverConfig:
        """Return the limits of the search."""
        from lean_dojo_v2.lean_agent.config import ProverConfig

        return ProverConfig(
            num_workers=self.workers,
            timeout=self.timeout,
            max_expansions=self.expansions,
            num_sampled_tactics=self.samples,
            debug=self.verbose,
            batch_size=self.batch_size,
            visits=self.visits,
            revisit_cost=self.revisit_cost,
            heartbeats=self.heartbeats,
            length_exponent=self.length_exponent,
            progress_weight=self.progress_weight,
            temperature=self.temperature,
            seed=self.seed,
        )


@attrs.frozen(kw_only=True)
class ProvingOptions(SearchOptions):
    """The options of `prove` and `agent`."""

    limit: int | None = option("-n", "--limit", **NUMBER, help="Try at most this many theorems.")
    whole_proof: bool = option(
        is_flag=True, help="Have the model write each proof in one go instead of searching."
    )
    save_tree: Path | None = filled_by(save_tree_option)
    write_patch: Path | None = option(
        metavar="FILE",
        type=ANY_FILE,
        help="Write the repository's proofs as a patch that `git apply` takes.",
    )
    as_json: bool = filled_by(json_option, default=False)


def set_up(asked: ProvingOptions) -> None:
    """Do what comes before anything is proved.

    Raises:
        UsageError: If a file that is to be written lies in no folder.
    """
    if asked.write_patch is not None and not asked.write_patch.absolute().parent.is_dir():
        raise UsageError(f"--write-patch {asked.write_patch}: there is no such folder")
    set_up_search(asked)


def set_up_search(asked: SearchOptions) -> None:
    """Have warnings printed, and provers find the progress model that is asked for.

    Raises:
        UsageError: If no such model is there.
    """
    from lean_dojo_v2.prover.base import PROGRESS_VARIABLE

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    given = asked.progress_model
    named = os.environ.get(PROGRESS_VARIABLE) if given is None else str(given)
    if named and asked.progress_weight and not Path(named, "config.json").is_file():
        place = PROGRESS_VARIABLE if given is None else "--progress-model"
        raise UsageError(
            f"{place}: {named} holds no model; name the output_dir of a `progress` trainer"
        )
    if given is not None:
        os.environ[PROGRESS_VARIABLE] = str(given)


def prove_with(agent: BaseAgent, asked: ProvingOptions) -> None:
    """Prove what is to be proved with an agent, and print and write the results.

    Raises:
        UsageError: If a patch of several repositories is asked for.
    """
    if asked.write_patch is not None and len(agent.repos) != 1:
        raise UsageError("--write-patch is for one repository; choose it with --repo")
    agent.tree_dir = asked.save_tree
    results = agent.prove(asked.whole_proof, limit=asked.limit)
    if asked.write_patch is not None:
        _write_patch(agent, asked.write_patch)
    if asked.as_json:
        emit_json(
            {
                "found": len(results),
                "proved": sum(result.success for result in results),
                "proofs": str(agent.proofs.path),
                "theorems": [result.to_dict() for result in results],
            }
        )


def _write_patch(agent: BaseAgent, file: Path) -> None:
    from lean_dojo_v2.agent.proofs import make_patch
    from lean_dojo_v2.atomic import atomic_write_bytes

    [repo] = agent.repos
    proofs = [p for p in agent.proofs if (p.url, p.commit) == (repo.url, repo.commit)]
    atomic_write_bytes(file, make_patch(repo.path, proofs).encode())
    note(f"{len({(p.file_path, p.start) for p in proofs})} proofs → {file}")
