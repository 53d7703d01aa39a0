"""What to prove, and options and results of proof search, shared by ``prove`` and ``agent``."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2 import agent as agents, prover
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import emit_json, json_option, note
from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.lean_agent import ProverConfig

save_tree_option = args.option(
    **args.NEW_FOLDER,
    help="Save every search tree in this folder, as JSON and as a picture (SVG).",
)


@attrs.frozen(kw_only=True)
class ProveTarget:
    """The options that select problems."""

    goal: str | None = args.goal_option
    theorem: str | None = args.option(
        metavar="NAME", help="One theorem of the database, proved or not."
    )
    file: Path | None = args.option(
        metavar="FILE.lean", type=args.EXISTING_FILE, help="Every `sorry` of a Lean file."
    )
    problems: Path | None = args.option(
        metavar="FILE.jsonl",
        type=args.EXISTING_FILE,
        help="Theorems in miniF2F's format: a JSON object with name and formal_statement per line.",
    )
    imports: tuple[str, ...] = args.import_option
    database: Path | None = args.database_option(default=None)
    repositories: tuple[str, ...] = args.repo_option
    project: Path | None = args.option(
        **args.FOLDER,
        help="Folder with the repository's files as they were traced (default: a clone), or with "
        "the Lake project that a file, goal or problem imports from.",
    )

    def __attrs_post_init__(self) -> None:
        named = ("goal", "theorem", "file", "problems")
        given = [f"--{name}" for name in named if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(f"name one thing to prove, not {' and '.join(given)}")
        traced = self.database is not None or self.repositories
        if given and given != ["--theorem"] and traced:
            raise UsageError(f"{given[0]} needs no database: leave out --database and --repo")
        if self.imports and self.goal is None:
            raise UsageError("--import is for --goal; a file has its own imports")


_NAMES = {
    "num_workers": ("-j", "--workers", "--jobs"),
    "max_expansions": ("--expansions",),
    "num_sampled_tactics": ("--samples",),
    "debug": ("-v", "--verbose"),
}
"""Option names that differ from their settings'."""
_NO_OPTIONS = {"use_vllm", "tactic_seconds"}
_LEAST = {"seed": 0, "lean_calls": 4}
EXPANSIONS = 100
"""Default limit of expansions, without --expansions and --lean-calls."""


def _as_options(_kind: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Make an option of every setting of a search."""
    settings = attrs.fields_dict(ProverConfig).keys() - _NO_OPTIONS
    return [_as_option(one) if one.name in settings else one for one in fields]


def _as_option(field: attrs.Attribute[Any]) -> attrs.Attribute[Any]:
    default = field.default
    kind = str(field.type).partition(" ")[0]
    told = f" (default: {EXPANSIONS}; with --lean-calls: no limit)."
    text = field.metadata["help"]
    text = text.rstrip(".") + told if field.name == "max_expansions" else text
    how: dict[str, Any] = {"help": text, "default": default}
    if kind == "bool":
        how["is_flag"] = True
    else:
        least = _LEAST.get(field.name, int(kind == "int"))
        how |= {
            "show_default": default is not None,
            "metavar": "SECONDS" if field.name == "timeout" else "N" if kind == "int" else "X",
            "type": (click.IntRange if kind == "int" else click.FloatRange)(min=least),
        }
    names = _NAMES.get(field.name, [f"--{field.name.replace('_', '-')}"])
    metadata = {**field.metadata, **args.option(*names, **how).metadata}
    return field.evolve(metadata=metadata, inherited=False)


@attrs.define(kw_only=True, slots=False, field_transformer=_as_options)
class SearchOptions(ProverConfig):
    """The options of proof search: the settings of a prover, and the model that guides it."""

    progress_model: Path | None = args.option(
        **args.FOLDER,
        help="Guide the search with this model of the progress trainer (also LEANPROGRESS_MODEL).",
    )

    def __attrs_post_init__(self) -> None:
        if self.max_expansions is None and self.lean_calls is None:
            self.max_expansions = EXPANSIONS

    def config(self) -> ProverConfig:
        """Return the settings of the prover."""
        return ProverConfig(**{one: getattr(self, one) for one in attrs.fields_dict(ProverConfig)})


@attrs.define(kw_only=True, slots=False)
class ProvingOptions(SearchOptions):
    """The options of `prove` and `agent`."""

    limit: int | None = args.option(
        "-n", "--limit", **args.NUMBER, help="Try at most this many theorems."
    )
    whole_proof: bool = args.option(
        is_flag=True, help="Let the model write each proof in one go instead of searching."
    )
    save_tree: Path | None = save_tree_option
    write_patch: Path | None = args.option(
        metavar="FILE",
        type=args.ANY_FILE,
        help="Write the repository's proofs as a patch that `git apply` takes.",
    )
    as_json: bool = args.shared(json_option, False)


def set_up(asked: ProvingOptions) -> None:
    """Refuse settings that cannot be heeded, and set up the search."""
    if asked.whole_proof:
        refuse_unheeded(asked)
    if asked.write_patch is not None and not asked.write_patch.absolute().parent.is_dir():
        raise UsageError(f"--write-patch {asked.write_patch}: there is no such folder")
    set_up_search(asked)


def refuse_unheeded(asked: SearchOptions, heeded: Collection[str] = ()) -> None:
    """Refuse settings of a search, which `--whole-proof` replaces, except those ``heeded``."""
    given = asked.shaping() | {
        name: value
        for name in ("progress_model", "save_tree")
        if (value := getattr(asked, name, None)) is not None
    }
    if asked.max_expansions == EXPANSIONS:
        given.pop("max_expansions")
    for name in given.keys() - heeded:
        named = _NAMES.get(name, [f"--{name.replace('_', '-')}"])[-1]
        raise UsageError(
            f"{named} is for proof search, which --whole-proof replaces; leave out one of them"
        )


def set_up_search(asked: SearchOptions) -> None:
    """Enable warnings, and set the progress model for provers.

    Several processes, as ``torchrun`` starts them, are refused: each would search everything.
    """
    if (count := int(os.environ.get("WORLD_SIZE") or 1)) > 1:
        raise UsageError(
            f"proofs are searched by one process, but {count} were started: start `lean-dojo "
            "prove` or `lean-dojo bench` once, with --ray to use all GPUs and cores of this "
            "machine or of a cluster; `lean-dojo train` may have several"
        )
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    given = asked.progress_model
    named = os.environ.get(prover.PROGRESS_VARIABLE) if given is None else str(given)
    if named and asked.progress_weight and not Path(named, "config.json").is_file():
        place = prover.PROGRESS_VARIABLE if given is None else "--progress-model"
        raise UsageError(
            f"{place}: {named} holds no model; name the output_dir of a `progress` trainer"
        )
    if given is not None:
        os.environ[prover.PROGRESS_VARIABLE] = str(given)


def prove_with(agent: agents.BaseAgent, asked: ProvingOptions) -> None:
    """Prove with an agent, and print and write the results."""
    if asked.write_patch is not None and len(agent.repos) != 1:
        raise UsageError("--write-patch is for one repository; choose it with --repo")
    agent.tree_dir = asked.save_tree
    results = agent.prove(asked.whole_proof, limit=asked.limit)
    if asked.write_patch is not None:
        [repo] = agent.repos
        proofs = [p for p in agent.proofs if (p.url, p.commit) == (repo.url, repo.commit)]
        atomic_write_bytes(asked.write_patch, agents.make_patch(repo.path, proofs).encode())
        note(f"{len({(p.file_path, p.start) for p in proofs})} proofs → {asked.write_patch}")
    if asked.as_json:
        rows = [result.to_dict() for result in results]
        proved, log = sum(result.success for result in results), str(agent.proofs.path)
        emit_json({"found": len(rows), "proved": proved, "proofs": log, "theorems": rows})
