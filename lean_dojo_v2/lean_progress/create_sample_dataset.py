"""Write a LeanProgress dataset: a small sample, or that of a database.

python -m lean_dojo_v2.lean_progress.create_sample_dataset --output sample.jsonl
python -m lean_dojo_v2.lean_progress.create_sample_dataset --from-database d.json --output p.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.lean_progress.examples import ProgressExample, examples_of, write_examples

DEFAULT_OUTPUT = "raid/data/sample_leanprogress_dataset.jsonl"


def examples_of_database(path: Path) -> Iterator[ProgressExample]:
    """Yield the examples of the finished proofs in a database, except for held-out theorems.

    A model that has seen held-out proofs would guide the search to them.
    """
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.database.export.splits import split_of

    for repository in DynamicDatabase(path).repositories:
        for theorem in repository.iter_theorems():
            if split_of(theorem) == "train":
                yield from examples_of(theorem)


def create(output: Path, database: Path | None = None) -> int:
    """Write the dataset.

    Args:
        output: The JSONL file.
        database: A database of traced theorems; default: the shipped sample.

    Returns:
        The number of examples.

    Raises:
        EmptyDatasetError: If the database has no finished proof with tactics among the theorems
            of its training split; an earlier file is kept.
    """
    from lean_dojo_v2.sample import sample_database_path

    source = database or sample_database_path()
    return write_examples(output, examples_of_database(source), source=source)


@click.command(help=__doc__.partition("\n")[0] if __doc__ else None)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=DEFAULT_OUTPUT,
    show_default=True,
    help="JSONL file to write.",
)
@click.option(
    "--from-database",
    "database",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Database of traced theorems; the shipped sample if not given.",
)
def main(output: Path, database: Path | None) -> None:
    """Write the dataset, and print its path."""
    try:
        count = create(output, database)
    except LeanDojoError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Wrote {count} examples to {output}", err=True)


if __name__ == "__main__":
    main()
