"""Write a LeanProgress dataset: a small sample, or that of a database.

python -m lean_dojo_v2.lean_progress.create_sample_dataset --output sample.jsonl
python -m lean_dojo_v2.lean_progress.create_sample_dataset --from-database d.json --output p.jsonl
"""

from pathlib import Path

import click

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_progress.examples import training_examples, write_examples
from lean_dojo_v2.sample import sample_database_path

DEFAULT_OUTPUT = "raid/data/sample_leanprogress_dataset.jsonl"


def create(output: Path, database: Path | None = None) -> int:
    """Write the dataset of a database, or of the shipped sample; return the number of examples.

    An ``EmptyDatasetError`` if the database has no finished proof with tactics among the theorems
    of its training split; an earlier file is kept.
    """
    source = database or sample_database_path()
    examples = training_examples(DynamicDatabase(source).repositories)
    return write_examples(output, examples, source=source)


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
