"""``lean-dojo database``: show, convert and export a database of traced repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.browse import browse
from lean_dojo_v2.cli.options import (
    ANY_FILE,
    ANY_FOLDER,
    database_option,
    repo_option,
)
from lean_dojo_v2.cli.output import emit_json, json_option, note, table
from lean_dojo_v2.cli.run import open_database, select_repositories
from lean_dojo_v2.wording import counted

FORMATS = ("jsonl", "parquet", "hf")


@click.group()
def database() -> None:
    """Show, browse, convert and export the database of traced repositories.

    A path that ends in .sqlite (or .sqlite3, .db) is an SQLite database, any other a JSON file
    in LeanDojo-v2's format.
    """


@database.command(short_help="List repositories with their numbers of theorems and premises.")
@database_option("--database", "path")
@json_option
def show(path: Path, as_json: bool) -> None:
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
            (
                one["name"],
                one["commit"][:12],
                one["lean_version"] or "?",
                str(one["total_theorems"]),
                str(one["num_proven_theorems"]),
                str(one["num_sorry_theorems_unproved"]),
                str(one["num_sorry_theorems_proved"]),
                str(one["num_premises"]),
            )
            for one in repositories
        ],
    )


class _Source(click.Path):
    """The file of a database, or the name of one that comes with the package."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from lean_dojo_v2.prover.shipped import SHIPPED, shipped_proofs
        from lean_dojo_v2.sample import sample_database_path

        ours = {"sample": sample_database_path, SHIPPED: shipped_proofs}
        found = value if Path(value).is_file() or value not in ours else ours[value]()
        if found is None:
            self.fail("this installation has no shipped model", param, ctx)
        return super().convert(found, param, ctx)


@database.command("import", short_help="Copy the repositories of one database into another.")
@click.argument("source", type=_Source(exists=True, dir_okay=False, path_type=Path))
@click.argument("destination", type=ANY_FILE)
def import_(source: Path, destination: Path) -> None:
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
@database_option("--database", "path")
@repo_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["splits", *FORMATS]),
    default="splits",
    show_default=True,
    help="What trainers read, or a table of tactics for other tools.",
)
@click.argument("destination", type=ANY_FOLDER)
@json_option
def export(
    path: Path, repositories: tuple[str, ...], format_: str, destination: Path, as_json: bool
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
            from lean_dojo_v2.database.export.tables import export_tables

            counts = export_tables(chosen, destination, format_)  # type: ignore[arg-type]
    many = counted(len(chosen), "repository", "repositories")
    rows = ", ".join(f"{split} {count}" for split, count in counts.items())
    note(f"{destination}: exported {many} of {path}{f' (tactics: {rows})' if rows else ''}.")
    if as_json:
        emit_json({"destination": str(destination), "format": format_, "rows": counts})


database.add_command(browse)
