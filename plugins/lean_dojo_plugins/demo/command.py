"""``lean-dojo demo``: the whole story on the shipped sample."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import attrs
import click

from lean_dojo_v2.cli.options import json_option
from lean_dojo_v2.cli.output import emit_json, note, table
from lean_dojo_v2.cli.waiting import long_command
from lean_dojo_v2.report.page import write_report


@click.command(short_help="Trace, train and prove on the shipped sample.")
@click.option(
    "-o",
    "--output-dir",
    "--output",
    "output_dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-output"),
    help="Folder for everything; a stopped demo goes on in it (default: demo-output).",
)
@click.option("--quick", is_flag=True, help="Smaller sizes: every stage, but a smaller gain.")
@json_option
@long_command()
def demo(output_dir: Path, quick: bool, as_json: bool) -> None:
    """Trace the shipped Lean projects with real Lean, train a small model, and prove with it.

    Takes about 10 minutes on 2 cores and needs neither a GPU nor a model hub. The model is built
    from nothing; what it proves is checked by Lean.
    """
    from lean_dojo_plugins.demo.run import Demo
    from lean_dojo_plugins.demo.settings import DemoSettings

    chosen = DemoSettings.quick(output_dir) if quick else DemoSettings(output_dir=output_dir)
    with redirect_stdout(sys.stderr):  # what trainers print is a message here
        results = Demo(chosen).run()
        report = write_report(output_dir)
    if as_json:
        emit_json([attrs.asdict(result) for result in results])
    else:
        rows = [
            [r.stage, *(f"{r.proved[g]} of {r.tried[g]}" for g in ("held-out", "sorry"))]
            for r in results
        ]
        table(["MODEL", "HELD-OUT THEOREMS PROVED", "SORRY THEOREMS PROVED"], rows)
    note(f"Report: {report}")
