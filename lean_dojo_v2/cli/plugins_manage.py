"""``lean-dojo plugins install|uninstall|enable|disable|check``."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import attrs
import click
from click.shell_completion import CompletionItem

from lean_dojo_core import PluginError, PluginInfo, UsageError, local, registry
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise
from lean_dojo_core.wording import did_you_mean
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import emit_json, json_option, note, paragraph
from lean_dojo_v2.files import atomic_write_text


@click.command(context_settings={"ignore_unknown_options": True})
@click.pass_context
@args.with_options
def install(
    context: click.Context,
    arguments: tuple[str, ...] = args.argument(
        metavar="PACKAGE…", nargs=-1, required=True, type=click.UNPROCESSED
    ),
) -> None:
    """Install PACKAGES into the environment that lean-dojo runs in, with pip.

    Takes whatever `pip install` takes, options included. Prints what the new plugins offer. Exits
    with 1 if nothing that was installed is a plugin, or if a plugin does not load.
    """
    before = _known()
    _run_pip(["install", *arguments])
    new = [info for name, info in _known().items() if info != before.get(name)]
    for info in new:
        if info.error is None:
            click.echo(f"{info.distribution} {info.version} offers: {', '.join(info.offers)}")
        else:
            note(f"{info.distribution} {info.version} is {info.status}: {info.error}")
    if not new:
        note(
            "pip has finished, but there is no new plugin: the package was already installed, or "
            "has no entry point in the group 'lean_dojo'."
        )
    if not new or any(info.status in {"failed", "incompatible"} for info in new):
        context.exit(1)


@click.command()
@args.with_options
def uninstall(
    names: tuple[str, ...] = args.argument(metavar="NAME…", nargs=-1, required=True),
    yes: bool = args.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation."),
) -> None:
    """Uninstall the distributions of the plugins NAMES, with pip."""
    found = list(dict.fromkeys(_distribution_of(name) for name in names))
    for name in found:
        if name.endswith(".py"):
            raise UsageError(f"{name} is a file, not a distribution: delete it, or disable it")
    if not yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise UsageError("there is no terminal to ask on; use --yes")
    _run_pip(["uninstall", *(["--yes"] if yes else []), *found])
    left = {info.distribution for info in _known().values()}
    for name in found:
        note(f"{name} is {'still there' if name in left else 'gone'}.")


@click.command()
@click.argument("name")
def enable(name: str) -> None:
    """Enable the plugin NAME again."""
    _switch(name, enabled=True)


@click.command()
@click.argument("name")
def disable(name: str) -> None:
    """Disable the plugin NAME: nothing of it is imported from now on.

    This is saved in the user's folder. LEAN_DOJO_DISABLE_PLUGINS does the same for one command.
    """
    _switch(name, enabled=False)


def _switch(name: str, *, enabled: bool) -> None:
    distribution = _distribution_of(name)
    file, names = local.folder() / local.DISABLED, set(local.disabled())
    if changed := (distribution in names) == enabled:
        atomic_write_text(file, "".join(f"{one}\n" for one in sorted(names ^ {distribution})))
    word = "enabled" if enabled else "disabled"
    note(f"{distribution} is {word} {'now' if changed else 'already'} ({file}).")
    for info in _known().values():
        if info.distribution == distribution and enabled and info.error is not None:
            note(f"{info.name} is still {info.status}: {info.error}")


def _run_pip(arguments: Sequence[str]) -> None:
    """Run pip in this environment; what it prints goes to standard error."""
    if find_spec("pip") is None:
        raise UsageError(
            f"there is no pip in this environment: run `{sys.executable} -m ensurepip`, or use "
            "`uv pip`"
        )
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdout=sys.__stderr__, check=False)
    if done.returncode != 0:
        raise PluginError(f"pip failed (exit code {done.returncode}); see its output above")


def _known() -> dict[str, PluginInfo]:
    """Return every plugin of this environment by its full name, as it is now."""
    return {info.name: info for info in registry.refresh().plugins}


def _distribution_of(name: str) -> str:
    """Return the distribution of a third party's plugin, named by it or by an entry point."""
    plugins = registry.current().plugins
    found = next((one.distribution for one in plugins if normalise(name) in one.aliases), None)
    if found is None:
        names = sorted({info.distribution for info in plugins})
        raise UsageError(
            f"no plugin {name!r} is installed.{did_you_mean(name, names, heading='Installed')}"
        )
    if normalise(found) == HOST_DISTRIBUTION:
        raise UsageError(
            f"{name} belongs to LeanDojo-v2 itself, which this does not switch or uninstall; "
            f"LEAN_DOJO_DISABLE_PLUGINS={name} leaves it out of one command"
        )
    return found


def _complete(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    names = sorted({info.distribution for info in registry.current().plugins})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    help="Time limit of one check, in seconds (default: none); further checks of a slow object are "
    "skipped.",
)
"""The option ``--timeout`` of commands that call a plugin."""


@click.command()
@click.pass_context
@args.with_options
def check(
    context: click.Context,
    plugin: str = args.argument(shell_complete=_complete),
    show_all: bool = args.option("--all", is_flag=True, help="Also list the checks that passed."),
    timeout: float | None = args.shared(timeout_option),
    as_json: bool = args.shared(json_option),
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
            f"{did_you_mean(plugin, known, heading='Installed')} A distribution of your own needs "
            "[project.entry-points.lean_dojo] in its pyproject.toml, and `pip install -e .`; a "
            f"single-file plugin is {local.folder() / local.FILE}, or any file in the folder "
            f"that {local.FOLDER_VARIABLE} names"
        )
    if all(info.status == "disabled" for info in mine):
        raise UsageError(
            f"{mine[0].distribution} is disabled, so nothing of it can be checked: {mine[0].error}"
        )
    findings = []
    for finding in check_distribution(mine[0].distribution, timeout):
        findings.append(finding)
        if as_json or (finding.problem is None and not show_all):
            continue
        verdict = "ok" if finding.problem is None else "FAILED"
        click.echo(f"{verdict}  {finding.subject}: {finding.check.replace('_', ' ')}")
        if finding.problem is not None:
            click.echo(paragraph(finding.problem, indent=8))
        sys.stdout.flush()  # at once, since checking a reward may take a minute
    failed = sum(finding.problem is not None for finding in findings)
    if as_json:
        emit_json([attrs.asdict(finding) for finding in findings])
    else:
        click.echo(f"{len(findings) - failed} of {len(findings)} checks passed.")
    if failed:
        context.exit(1)
