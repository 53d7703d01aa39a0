"""``lean-dojo demo``: the whole pipeline on the shipped sample."""

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from lean_dojo_v2.cli import NEW_FOLDER, emit_json, json_option, long_command, note, table


@click.command()
@click.option(
    "-o",
    "--output-dir",
    "--output",
    "output_dir",
    **NEW_FOLDER,
    default=Path("demo-output"),
    help="Folder for all output; a stopped demo resumes there (default: demo-output).",
)
@click.option(
    "--quick", is_flag=True, help="Run every stage with smaller sizes; expect little gain."
)
@json_option
@long_command()
def demo(output_dir: Path, quick: bool, as_json: bool) -> None:
    """Prove with the shipped model, trace Lean, train, and prove more than automation does.

    Takes 5 to 10 minutes on 2 cores and needs neither a GPU nor a model hub. Every command that it
    runs is printed; every proof that it counts is checked by Lean.
    """
    from lean_dojo_plugins.demo.run import Demo, DemoSettings
    from lean_dojo_plugins.services import write_report

    with redirect_stdout(sys.stderr):  # the commands' output is only informative here
        stages = Demo(output_dir, DemoSettings.quick() if quick else DemoSettings()).run()
        report = write_report(output_dir)
    if as_json:
        emit_json([stage.row() for stage in stages])
    else:
        table(["PROVER", "HELD-OUT THEOREMS PROVED"], [[r.stage, str(r.share)] for r in stages])
        for trained in stages[2:]:
            note(trained.headline)
    note(f"Report: {report}")
    if sys.stderr.isatty():
        click.launch(str(report))
