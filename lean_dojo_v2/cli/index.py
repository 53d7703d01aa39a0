"""``lean-dojo index``."""

from __future__ import annotations

from pathlib import Path

import click

from lean_dojo_v2.cli.output import note
from lean_dojo_v2.cli.retrieve import open_retriever, retriever_options
from lean_dojo_v2.cli.waiting import long_command


@click.command(short_help="Encode a corpus for retrieval, and keep the result.")
@retriever_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the index (default: beside the checkpoint, where `retrieve` finds it).",
)
@long_command(goes_on=False)
def index(checkpoint: str | None, corpus: Path | None, output: Path | None) -> None:
    """Encode a corpus for retrieval, and keep the result.

    The index knows model and corpus by their contents: it is used again while both are the same
    and refused otherwise. Prints the file.
    """
    retriever = open_retriever(checkpoint, corpus)
    path = output or retriever.index_file
    if path is None:
        raise click.UsageError("this model is no checkpoint file: say with -o where to keep it")
    if output is not None:
        retriever.index.save(output)
    note(f"{len(retriever.corpus)} premises are indexed.")
    click.echo(path)
