"""``lean-dojo index``."""

from __future__ import annotations

from pathlib import Path

import click

from lean_dojo_v2.cli.options import ANY_FILE
from lean_dojo_v2.cli.output import note
from lean_dojo_v2.cli.retrieve import open_retriever, retriever_options
from lean_dojo_v2.cli.waiting import long_command


@click.command()
@retriever_options
@click.option(
    "-o",
    "--output",
    type=ANY_FILE,
    help="File of the index (default: beside the checkpoint, where `retrieve` finds it).",
)
@long_command(goes_on=False)
def index(checkpoint: str | None, corpus: Path | None, output: Path | None) -> None:
    """Encode a corpus for retrieval, and save the index.

    The index records the contents of model and corpus. It is used again as long as both are the
    same, and refused otherwise. Prints the path of the index.
    """
    retriever = open_retriever(checkpoint, corpus)
    path = output or retriever.index_file
    if path is None:
        raise click.UsageError(
            "the model is not a checkpoint file: name the file of the index with -o"
        )
    if output is not None:
        retriever.index.save(output)
    note(f"{len(retriever.corpus)} premises are indexed.")
    click.echo(path)
