"""``lean-dojo plugins install|uninstall|enable|disable``."""

from __future__ import annotations

import attrs
import click

from lean_dojo_core import PluginInfo
from lean_dojo_core.errors import UsageError
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise
from lean_dojo_v2.cli.output import note


@click.command()
@click.argument("packages", metavar="PACKAGE…", nargs=-1, required=True)
@click.option("-U", "--upgrade", is_flag=True, help="Upgrade packages that are already installed.")
@click.option("-e", "--editable", is_flag=True, help="Install a folder in editable mode.")
@click.option(
    "--pip", "extra", multiple=True, metavar="OPTION", help="Option for pip; may be repeated."
)
@click.pass_context
def install(
    context: click.Context,
    *,
    packages: tuple[str, ...],
    upgrade: bool,
    editable: bool,
    extra: tuple[str, ...],
) -> None:
    """Install PACKAGES into the environment that lean-dojo runs in, with pip.

    A package is a requirement (`name`, `name>=1`, `name @ address`), an address, or the path of a
    folder or wheel. Prints what the new plugins offer. Exits with 1 if nothing that was installed
    is a plugin, or if a plugin does not load.
    """
    from lean_dojo_v2.plugin_host.pip import checked_package, known, run_pip

    wanted = [checked_package(one, folder_only=editable) for one in packages]
    before = known()
    options = [*(["--upgrade"] if upgrade else []), *extra]
    marked = [part for one in wanted for part in (["--editable", one] if editable else [one])]
    run_pip(["install", *options, *marked])
    after = known()
    new = [info for name, info in after.items() if info != _timeless(before.get(name), info)]
    for info in new:
        _tell(info)
    if not new:
        note(
            "pip has finished, but there is no new plugin: the package was already installed, or "
            "has no entry point in the group 'lean_dojo'."
        )
    if not new or any(info.status in {"failed", "incompatible"} for info in new):
        context.exit(1)


def _timeless(old: PluginInfo | None, new: PluginInfo) -> PluginInfo | None:
    """Return the earlier record with the later one's import time, for comparison."""
    return None if old is None else attrs.evolve(old, import_seconds=new.import_seconds)


def _tell(info: PluginInfo) -> None:
    if info.error is None:
        click.echo(f"{info.distribution} {info.version} offers: {', '.join(info.offers)}")
    else:
        note(f"{info.distribution} {info.version} is {info.status}: {info.error}")


@click.command()
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def uninstall(names: tuple[str, ...], yes: bool) -> None:
    """Uninstall the distributions of the plugins NAMES, with pip."""
    from lean_dojo_v2.plugin_host.pip import distribution_of, known, run_pip

    found = list(dict.fromkeys(distribution_of(name) for name in names))
    for name in found:
        if normalise(name) == HOST_DISTRIBUTION:
            raise UsageError(f"{name} is LeanDojo-v2 itself; `pip uninstall {name}` removes it")
        if name.endswith(".py"):
            raise UsageError(f"{name} is a file, not a distribution: delete it, or disable it")
    if not yes and not _agreed(f"Uninstall {', '.join(found)}?"):
        note("Nothing was uninstalled.")
        return
    run_pip(["uninstall", "--yes", *found])
    left = {normalise(info.distribution) for info in known().values()}
    for name in found:
        note(f"{name} is {'still there' if normalise(name) in left else 'gone'}.")


def _agreed(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort as error:
        if isinstance(error.__context__, EOFError):  # not Ctrl-C: no terminal
            raise UsageError("there is no terminal to ask on; use --yes") from error
        raise


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
    from lean_dojo_core import local
    from lean_dojo_v2.atomic import atomic_write_text
    from lean_dojo_v2.plugin_host.pip import distribution_of, known

    distribution = distribution_of(name)
    if normalise(distribution) == HOST_DISTRIBUTION:
        raise UsageError(f"{distribution} is LeanDojo-v2 itself, which is always loaded")
    file, names = local.folder() / local.DISABLED, set(local.disabled())
    if changed := (distribution in names) == enabled:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(file, "".join(f"{one}\n" for one in sorted(names ^ {distribution})))
    word = "enabled" if enabled else "disabled"
    note(f"{distribution} is {word} {'now' if changed else 'already'} ({file}).")
    for info in known().values():
        if info.distribution == distribution and enabled and info.error is not None:
            note(f"{info.name} is still {info.status}: {info.error}")
