"""``lean-dojo plugins``: list, install, check and write plugins."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import click

from lean_dojo_core import PluginInfo, registry
from lean_dojo_core.discovery import STRICT_VARIABLE
from lean_dojo_core.installed import host_requirements
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.lazy import LazyCommand, LazyGroup
from lean_dojo_v2.cli.output import emit_json, json_option, note, table

_SUMMARIES = {
    "install": "Install plugins into this environment, with pip.",
    "uninstall": "Uninstall plugins from this environment, with pip.",
    "enable": "Enable a disabled plugin.",
    "disable": "Disable a plugin without uninstalling it.",
    "new": "Write a new plugin: a distribution that installs and passes its tests.",
    "check": "Run the conformance checks on a distribution.",
}
COMMANDS = {
    name: LazyCommand(
        name, f"lean_dojo_v2.cli.plugins_{'new' if name == 'new' else 'manage'}:{name}", summary
    )
    for name, summary in _SUMMARIES.items()
}


@click.group(cls=LazyGroup, commands=COMMANDS, invoke_without_command=True)
@click.option("--kind", type=args.KIND, help="Only this kind, such as trainer or reward-function.")
@click.option("--failed", is_flag=True, help="Only plugins that are not active, with the reason.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any plugin failed.")
@json_option
@click.pass_context
def plugins(
    context: click.Context, kind: str | None, failed: bool, strict: bool, as_json: bool
) -> None:
    """List the installed plugins, and what each of them offers.

    Environment variables: LEAN_DOJO_DISABLE_PLUGINS (plugins that are never loaded, named by
    distribution, entry point or distribution:entry-point, separated by commas),
    LEAN_DOJO_STRICT_PLUGINS=1 (any failure is fatal).
    """
    if context.invoked_subcommand is not None:
        return
    # The listing shows what failed, so it must work even in strict mode.
    strict = strict or os.environ.pop(STRICT_VARIABLE, "").strip() not in {"", "0"}
    found = registry.current()
    idle = [info for info in found.plugins if info.status != "active"]
    if as_json:
        emit_json(_listing(kind, failed=failed))
    elif not failed:
        _print_offers(kind)
        for (kind_name, name), providers in _clashes(kind).items():
            note(
                f"The short name of {kind_name} {name!r} is offered by {' and '.join(providers)}: "
                "say which."
            )
    if not as_json and (failed or idle):
        _print_idle(idle, alone=failed)
    if strict and found.failed:
        context.exit(1)


def _entries(kind: str | None) -> Iterator[tuple[str, registry.Entry[Any, Any]]]:
    """Yield entries with their shortest unambiguous names."""
    for name, entries in registry.registries().items():
        if kind in {None, name}:
            yield from zip(entries, entries.entries(), strict=True)


def _clashes(kind: str | None) -> dict[tuple[str, str], list[str]]:
    """Return every kind and short name that several distributions offer, and the full names."""
    providers: dict[tuple[str, str], list[str]] = {}
    for shown, entry in _entries(kind):
        if shown != entry.name:
            providers.setdefault((entry.spec.kind, entry.name), []).append(shown)
    return providers


def _print_offers(kind: str | None) -> None:
    rows: dict[str, list[list[str]]] = {}
    for shown, entry in _entries(kind):
        row = [shown, f"{entry.distribution} {entry.version}", entry.spec.summary]
        rows.setdefault(entry.spec.kind, []).append(row)
    if not rows:
        note("No plugin offers anything of this kind.")
    for position, (name, of_kind) in enumerate(rows.items()):
        if position:
            click.echo()
        table([f"{name.replace('-', ' ').upper()}S", "FROM", "SUMMARY"], of_kind)


def _print_idle(idle: list[PluginInfo], *, alone: bool) -> None:
    if not idle:
        note("No plugin failed.")
    elif alone:
        table(
            ["PLUGIN", "VERSION", "STATUS", "REASON"],
            [[info.name, info.version, info.status, info.error or ""] for info in idle],
        )
    else:
        note("")
        for info in idle:
            note(f"{info.name} {info.version} is {info.status}: {info.error}")


def _listing(kind: str | None, *, failed: bool) -> dict[str, Any]:
    offers = [] if failed else [entry for _, entry in _entries(kind)]
    return {
        "clashes": [
            {"kind": kind_name, "name": name, "offered_by": names}
            for (kind_name, name), names in ({} if failed else _clashes(kind)).items()
        ],
        "offers": [entry.as_dict() for entry in offers],
        "plugins": [
            {**attrs.asdict(info), **_written_for(info)}
            for info in registry.current().plugins
            if not failed or info.status != "active"
        ],
    }


def _written_for(info: PluginInfo) -> dict[str, str | None]:
    """Return the versions that a plugin was written for, by its manifest and requirements."""
    manifest = sys.modules.get(info.value.partition(":")[0])
    try:
        required = [] if info.builtin else host_requirements(info.distribution)
    except ValueError:  # unreadable; the listing reports it
        required = []
    return {
        "api": getattr(manifest, "LEAN_DOJO_API_VERSION", None),
        "requires": next(filter(None, (str(one.specifier) for one in required)), None),
    }
