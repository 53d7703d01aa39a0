"""``lean-dojo plugins check PLUGIN``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.installed import normalise
from lean_dojo_core.local import FILE, FOLDER_VARIABLE, folder
from lean_dojo_core.suggestions import suggestion
from lean_dojo_core.testing.suite import Finding, Guard
from lean_dojo_v2.cli.output import emit_json, json_option, paragraph


def _complete(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    names = sorted({info.distribution for info in registry.current().plugins})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    default=300.0,
    show_default=True,
    help="Time limit of one check, in seconds; further checks of a slow object are skipped.",
)


@click.command()
@click.argument("plugin", shell_complete=_complete)
@click.option("--all", "show_all", is_flag=True, help="Also list the checks that passed.")
@timeout_option
@json_option
@click.pass_context
def check(
    context: click.Context, plugin: str, show_all: bool, timeout: float, as_json: bool
) -> None:
    """Run the conformance checks on a PLUGIN; exits with 1 if one fails.

    PLUGIN is an installed distribution, or the name of a single-file plugin.

    The same checks are pytest classes in lean_dojo_core.testing, where a test can give an object
    options. For a trainer, only the class is checked. Results are printed after each object.
    """
    from lean_dojo_core.testing import check_distribution

    plugins = registry.current().plugins
    mine = [info for info in plugins if normalise(info.distribution) == normalise(plugin)]
    if not mine:
        known = sorted({info.distribution for info in plugins})
        raise UsageError(
            f"no installed distribution {plugin!r} has an entry point in the group 'lean_dojo'."
            f"{suggestion(plugin, known, heading='Installed')} A distribution of your own needs "
            "[project.entry-points.lean_dojo] in its pyproject.toml, and `pip install -e .`; a "
            f"single-file plugin is {Path(folder(), FILE)}, or any file in the folder that "
            f"{FOLDER_VARIABLE} names"
        )
    if all(info.status == "disabled" for info in mine):
        raise UsageError(
            f"{mine[0].distribution} is disabled, so nothing of it can be checked: {mine[0].error}"
        )
    findings = []
    for finding in check_distribution(mine[0].distribution, limited(timeout)):
        findings.append(finding)
        if not as_json and (show_all or finding.problem is not None):
            _print(finding)
    failed = sum(finding.problem is not None for finding in findings)
    if as_json:
        emit_json([attrs.asdict(finding) for finding in findings])
    else:
        click.echo(f"{len(findings) - failed} of {len(findings)} checks passed.")
    if failed:
        context.exit(1)


def limited(timeout: float) -> Guard:
    """Make a guard that gives up on an object after a slow check."""
    from lean_dojo_core.foreign import OutOfTimeError, watched

    def guard(name: str, run: Callable[[], str | None]) -> str | None:
        try:
            return watched(run, name, timeout)
        except OutOfTimeError as error:
            raise TimeoutError(
                f"it {error}; give it less to do, or raise --timeout (no further checks of it)"
            ) from error

    return guard


def _print(finding: Finding) -> None:
    """Print a finding at once, since checking a reward may take a minute."""
    verdict = "ok" if finding.problem is None else "FAILED"
    click.echo(f"{verdict}  {finding.subject}: {finding.check.replace('_', ' ')}")
    if finding.problem is not None:
        click.echo(paragraph(finding.problem, indent=8))
    sys.stdout.flush()
