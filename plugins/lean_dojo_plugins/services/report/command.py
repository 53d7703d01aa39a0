"""``lean-dojo report OUTPUT_DIR…``."""

from pathlib import Path

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli import ANY_FILE, EXISTING_FOLDER, emit_json, json_option


@click.command()
@click.argument("folders", metavar="OUTPUT_DIR…", nargs=-1, required=True, type=EXISTING_FOLDER)
@click.option(
    "-o",
    "--output",
    type=ANY_FILE,
    help="File to write (default: report.html in OUTPUT_DIR; for several folders compare.html).",
)
@json_option
def report(folders: tuple[Path, ...], output: Path | None, as_json: bool) -> None:
    """Write one HTML page about OUTPUT_DIR: data, curriculum, curves, verified rate, proofs.

    For several folders, writes one page that compares them: what they proved, their last
    numbers, and which settings differ. A page loads nothing from elsewhere.
    Parts for which a folder has no data are left out. A run under way can be reported on, too.
    """
    from lean_dojo_plugins.services.report.collect import collect
    from lean_dojo_plugins.services.report.compare import COMPARE_FILE, compare, write_comparison
    from lean_dojo_plugins.services.report.page import summary, write_report

    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("a folder is named twice")
    found = [collect(folder) for folder in folders]
    if len(found) == 1:
        page = write_report(folders[0], output, found[0])
        data = summary(found[0])
    else:
        page = write_comparison(found, output or Path(COMPARE_FILE))
        data = compare(found)
    if as_json:
        emit_json({"page": str(page), **data})
    else:
        click.echo(str(page))
