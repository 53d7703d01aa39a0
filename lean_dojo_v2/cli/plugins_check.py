"""``lean-dojo plugins check PLUGIN``."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import attrs
import click
from click.shell_completion import CompletionItem

from lean_dojo_core import local, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.installed import normalise
from lean_dojo_core.local import FILE, FOLDER_VARIABLE, folder
from lean_dojo_core.testing.suite import Finding, Guard
from lean_dojo_v2.cli.options import json_option
from lean_dojo_v2.cli.output import emit_json, note, paragraph
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.paths import read_named
from lean_dojo_v2.structuring import suggestion


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

    PLUGIN is an installed distribution, its folder, or a single-file plugin.

    The same checks are pytest classes in lean_dojo_core.testing, where a test can give an object
    options. For a trainer, only the class is checked. Results are printed as they come.
    """
    from lean_dojo_core.testing import check_distribution

    distribution = context.with_resource(_found(plugin))
    plugins = registry.current().plugins
    known = sorted({info.distribution for info in plugins})
    mine = [info for info in plugins if normalise(info.distribution) == normalise(distribution)]
    if not mine and distribution.endswith(".py"):
        raise UsageError(
            f"there is no plugin {distribution!r}. A single-file plugin is "
            f"{folder() / FILE}, or any file in the folder that {FOLDER_VARIABLE} "
            "names; of any other, give the path"
        )
    if not mine:
        raise UsageError(
            f"no installed distribution {distribution!r} has an entry point in the group "
            f"'lean_dojo'.{suggestion(distribution, known)} A distribution of your own needs "
            "[project.entry-points.lean_dojo] in its pyproject.toml, and `pip install -e .`"
        )
    if all(info.status == "disabled" for info in mine):
        raise UsageError(
            f"{mine[0].distribution} is disabled, so nothing of it can be checked: {mine[0].error}"
        )
    findings = []
    for finding in check_distribution(distribution, limited(timeout)):
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


@contextlib.contextmanager
def _found(plugin: str) -> Iterator[str]:
    """Yield the name of the distribution or file given by name or path."""
    path = Path(plugin)
    if path.is_dir() and (os.sep in plugin or plugin in {".", ".."} or not _is_installed(plugin)):
        yield _distribution_in(path)
    elif path.is_file() and path.suffix == ".py" and path.resolve() not in _local_files():
        with _loaded(path):
            yield path.name
    else:
        yield path.name if path.suffix == ".py" else plugin


def _local_files() -> list[Path]:
    return [file.resolve() for file in local.files()]


def _is_installed(name: str) -> bool:
    return normalise(name) in {normalise(i.distribution) for i in registry.current().plugins}


def _distribution_in(folder: Path) -> str:
    """Return the name of the distribution whose source is in a folder; it must be installed."""
    file = folder / "pyproject.toml"
    if not file.is_file():
        raise UsageError(
            f"{folder} holds no pyproject.toml; give a distribution's folder, its name, or the "
            "path of a single-file plugin"
        )
    try:
        name = str(tomllib.loads(read_named(file).decode())["project"]["name"])
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableFileError(f"names no [project] name ({error})", path=file) from error
    if not _is_installed(name):
        raise UsageError(
            f"{folder} holds the distribution {name!r}, of which no plugin is installed here; it "
            "needs [project.entry-points.lean_dojo] in its pyproject.toml, and "
            f"`pip install -e {folder}`"
        )
    found = metadata.distribution(name)
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        note(
            f"Checking {name} {found.version} as it is installed; changes in {folder} count after "
            f"`pip install {folder}`."
        )
    return name


@contextlib.contextmanager
def _loaded(file: Path) -> Iterator[None]:
    """Load a single-file plugin, wherever it is, and no other files."""
    if not file.stem.isidentifier():
        raise UsageError(f"{file}: a plugin's file is imported; give it the name of a module")
    before = os.environ.get(FOLDER_VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, file.name).symlink_to(file.resolve())
        os.environ[FOLDER_VARIABLE] = folder
        try:
            registry.refresh()
            yield
        finally:
            if before is None:
                del os.environ[FOLDER_VARIABLE]
            else:
                os.environ[FOLDER_VARIABLE] = before
            registry.refresh()


def limited(timeout: float) -> Guard:
    """Make a guard that gives up on an object after a slow check."""
    from lean_dojo_v2.plugin_host.watchdog import OutOfTimeError, watched

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
