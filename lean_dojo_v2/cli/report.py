"""``lean-dojo report OUTPUT_DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from lean_dojo_v2.report.page import write_report


@click.command(short_help="Write one HTML page about a run's output folder.")
@click.argument("output_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page (default: report.html in OUTPUT_DIR).",
)
def report(output_dir: Path, output: Path | None) -> None:
    """Write one HTML page about OUTPUT_DIR: data, curriculum, curves, verified rate, proofs.

    The page is self-contained: it loads nothing from elsewhere. Parts for which OUTPUT_DIR has
    nothing are left out; a run under way may be reported on, too.
    """
    click.echo(str(write_report(output_dir, output)))
