"""``lean-dojo database``: show, browse, convert and export a database of traced repositories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import Theorem, UsageError, remove_marks
from lean_dojo_core.wording import counted
from lean_dojo_v2 import database as databases, prover, sample
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import emit_json, json_option, note, table
from lean_dojo_v2.cli.run import open_database, select_repositories

COUNTS = (
    "total_theorems", "num_proven_theorems", "num_sorry_theorems_unproved",
    "num_sorry_theorems_proved", "num_premises",
)  # fmt: skip
FORMATS = ("jsonl", "parquet", "hf")


@click.group()
def database() -> None:
    """Show, browse, convert and export the database of traced repositories.

    A path that ends in .sqlite (or .sqlite3, .db) is an SQLite database, any other a JSON file
    in LeanDojo-v2's format.
    """


@database.command(short_help="List repositories with their numbers of theorems and premises.")
@args.with_options
def show(
    path: Path = args.database_option("--database"), as_json: bool = args.shared(json_option)
) -> None:
    """List the repositories of a database, in the order they were added."""
    with open_database(path, read_only=True) as opened:
        repositories = [repository.header_to_dict() for repository in opened.repositories]
    if as_json:
        emit_json({"database": str(path), "repositories": repositories})
        return
    if not repositories:
        note(f"{path}: holds no repository; add one with `lean-dojo trace`.")
        return
    table(
        ("REPOSITORY", "COMMIT", "LEAN", "THEOREMS", "PROVEN", "SORRY", "PROVED", "PREMISES"),
        [
            (one["name"], one["commit"][:12], one["lean_version"] or "?", *map(one.get, COUNTS))
            for one in repositories
        ],
    )


class _Source(click.Path):
    """The file of a database, or the name of one that comes with the package."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        ours = {"sample": sample.sample_database_path, prover.SHIPPED: prover.shipped_proofs}
        found = value if Path(value).is_file() or value not in ours else ours[value]()
        if found is None:
            self.fail("this installation has no shipped model", param, ctx)
        return super().convert(found, param, ctx)


_SOURCE = _Source(exists=True, dir_okay=False, path_type=Path)


@database.command("import", short_help="Copy the repositories of one database into another.")
@args.with_options
def import_(
    source: Path = args.argument(type=_SOURCE),
    destination: Path = args.argument(type=args.ANY_FILE),
) -> None:
    """Copy the repositories of SOURCE into the database DESTINATION, which is created if needed.

    SOURCE is a file, or one that comes with the package: `sample`, or `shipped`, some of the proofs
    that the shipped model learned, so that it does not forget them while it learns others.

    The suffixes decide the formats, so this converts both ways. A repository that DESTINATION
    already has is replaced, but proofs recorded there are kept. Other repositories of DESTINATION
    are unchanged.
    """
    if source.resolve() == destination.resolve():
        raise UsageError(f"{source}: source and destination are the same file")
    with open_database(source, read_only=True) as opened:
        opened.update_json(destination)
        many = counted(len(opened.repositories), "repository", "repositories")
        note(f"{destination}: {many} taken from {source}.")


@database.command(short_help="Write the splits and the corpus that trainers read.")
@args.with_options
def export(
    path: Path = args.database_option("--database"),
    repositories: tuple[str, ...] = args.repo_option,
    format_: str = args.option(
        "--format",
        type=click.Choice(["splits", *FORMATS]),
        default="splits",
        help="What trainers read, or a table of tactics for other tools.",
    ),
    destination: Path = args.argument(type=args.ANY_FOLDER),
    as_json: bool = args.shared(json_option),
) -> None:
    """Write the data of the repositories into the folder DESTINATION.

    splits: random/ and novel_premises/ contain train.json, val.json and test.json; corpus.jsonl,
    traced_files.jsonl and metadata.json are written beside them. jsonl and parquet: one row per
    tactic, one file per split. hf: the same as a dataset for `datasets.load_dataset` and the hub.
    """
    counts: dict[str, int] = {}
    with open_database(path, read_only=True) as opened:
        chosen = select_repositories(opened, list(repositories), path)
        if format_ == "splits":
            opened.export_merged_data(chosen, destination)
        else:
            counts = databases.export_tables(chosen, destination, format_)  # type: ignore[arg-type]
    many = counted(len(chosen), "repository", "repositories")
    rows = ", ".join(f"{split} {count}" for split, count in counts.items())
    note(f"{destination}: exported {many} of {path}{f' (tactics: {rows})' if rows else ''}.")
    if as_json:
        emit_json({"destination": str(destination), "format": format_, "rows": counts})


@database.command(short_help="Show theorems with their tactics and goals, page by page.")
@args.with_options
def browse(
    *,
    words: tuple[str, ...] = args.argument(metavar="[WORD]…", nargs=-1),
    path: Path = args.database_option("--database"),
    repositories: tuple[str, ...] = args.repo_option,
    sorry: bool = args.option(is_flag=True, help="Only theorems that their author left sorry."),
    limit: int | None = args.option(
        "-n", "--limit", **args.NUMBER, help="Show at most this many theorems."
    ),
    as_json: bool = args.shared(json_option),
) -> None:
    """Show the theorems whose name, file, statement or tactics contain all WORDS.

    Shows the place, split and statement of each theorem, and every tactic with the goals before it.
    On a terminal, the output goes through the pager ($PAGER).
    """
    with open_database(path, read_only=True) as opened:
        chosen = select_repositories(opened, list(repositories), path)
        theorems = chain.from_iterable(_theorems(one, sorry=sorry) for one in chosen)
        shown = islice((theorem for theorem in theorems if _holds(theorem, words)), limit)
        if as_json:
            emit_json([{**attrs.asdict(one), "split": databases.split_of(one)} for one in shown])
            return
        if (first := next(shown, None)) is None:
            note("no theorem contains all of these words")
            return
        click.echo_via_pager(map(_page, chain([first], shown)))


def _theorems(repository: databases.Repository, *, sorry: bool) -> Iterator[Theorem]:
    if not sorry:
        return repository.iter_theorems()
    lists = ("sorry_theorems_unproved", "sorry_theorems_proved")
    return chain.from_iterable(map(repository.iter_list, lists))


def _holds(theorem: Theorem, words: tuple[str, ...]) -> bool:
    texts = [theorem.full_name, theorem.file_path, theorem.theorem_statement or ""]
    texts += [step.tactic for step in theorem.traced_tactics]
    text = remove_marks("\n".join(texts)).lower()
    return all(word.lower() in text for word in words)


def _page(theorem: Theorem) -> str:
    place = f"{theorem.file_path}:{theorem.start[0]}"
    lines = [
        f"{click.style(theorem.full_name, bold=True)}  {place}  ({databases.split_of(theorem)})"
    ]
    statement = theorem.theorem_statement
    if statement is not None:
        lines += [f"  {line}" for line in statement.rstrip().split("\n")]
    if not theorem.traced_tactics:
        lines.append("  (no tactics: a term, or sorry)")
    for step in theorem.traced_tactics:
        lines += [f"    {line}" for line in remove_marks(step.state_before).split("\n")]
        tactic = re.sub(r"\n", "\n    ", remove_marks(step.tactic))
        lines.append(f"  ▸ {click.style(tactic, fg='green')}")
    if theorem.traced_tactics:
        last = remove_marks(theorem.traced_tactics[-1].state_after)
        lines += [f"    {line}" for line in last.split("\n")]
    return "\n".join([*lines, "", ""])
