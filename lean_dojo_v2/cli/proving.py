"""What ``prove`` and ``agent`` share: the options of proof search, and its results."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.options import json_option, options
from lean_dojo_v2.cli.output import emit_json, note

if TYPE_CHECKING:
    from lean_dojo_v2.agent import BaseAgent
    from lean_dojo_v2.lean_agent.config import ProverConfig


@attrs.frozen
class ProvingOptions:
    """What :data:`proving_options` gave."""

    limit: int | None
    timeout: int
    samples: int
    expansions: int | None
    batch_size: int
    workers: int
    whole_proof: bool
    progress_model: Path | None
    save_tree: Path | None
    write_patch: Path | None
    verbose: bool
    as_json: bool

    def config(self) -> ProverConfig:
        """Give the limits of the search."""
        from lean_dojo_v2.lean_agent.config import ProverConfig

        return ProverConfig(
            num_workers=self.workers,
            timeout=self.timeout,
            max_expansions=self.expansions,
            num_sampled_tactics=self.samples,
            debug=self.verbose,
            batch_size=self.batch_size,
        )


_positive = click.IntRange(min=1)
proving_options = options(
    click.option(
        "-n", "--limit", metavar="N", type=_positive, help="Try at most so many theorems."
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=_positive,
        default=600,
        show_default=True,
        help="Seconds that are spent on a theorem.",
    ),
    click.option(
        "--samples",
        metavar="N",
        type=_positive,
        default=64,
        show_default=True,
        help="Tactics sampled at a state.",
    ),
    click.option(
        "--expansions",
        metavar="N",
        type=_positive,
        help="States of a theorem that are expanded at most (default: no limit).",
    ),
    click.option(
        "--batch-size",
        metavar="N",
        type=_positive,
        default=12,
        show_default=True,
        help="States, of different theorems, that are expanded together.",
    ),
    click.option(
        "-j",
        "--workers",
        "--jobs",
        "workers",
        metavar="N",
        type=_positive,
        default=4,
        show_default=True,
        help="Lean engines side by side, at most one a core.",
    ),
    click.option(
        "--whole-proof",
        is_flag=True,
        help="Have the model write each proof in one go instead of searching.",
    ),
    click.option(
        "--progress-model",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Guide the search by this progress model (also LEANPROGRESS_MODEL).",
    ),
    click.option(
        "--save-tree",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="Save every search tree there, as JSON and as a picture (SVG).",
    ),
    click.option(
        "--write-patch",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the repository's proofs as a patch that `git apply` takes.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Print every state on stderr."),
    json_option,
)
"""The options of proof search; they are the fields of :class:`ProvingOptions`."""


def set_up(asked: ProvingOptions) -> None:
    """Do what comes before anything is proved.

    Raises:
        UsageError: If a file that is to be written lies in no folder.
    """
    from lean_dojo_v2.prover.base import PROGRESS_VARIABLE

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    if asked.write_patch is not None and not asked.write_patch.absolute().parent.is_dir():
        raise UsageError(f"--write-patch {asked.write_patch}: there is no such folder")
    if asked.progress_model is not None:
        os.environ[PROGRESS_VARIABLE] = str(asked.progress_model)


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
