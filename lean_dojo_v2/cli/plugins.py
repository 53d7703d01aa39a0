"""``lean-dojo plugins``: list what is installed; ``check`` and ``new`` for plugin authors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click

from lean_dojo_core import PluginInfo, registry
from lean_dojo_core.discovery import STRICT_VARIABLE
from lean_dojo_v2.cli.lazy import LazyCommand, LazyGroup
from lean_dojo_v2.cli.options import json_option, options
from lean_dojo_v2.cli.output import emit_json, note, table

COMMANDS = {
    "new": LazyCommand(
        "lean_dojo_v2.cli.plugins_new:new",
        "Write a new plugin: a distribution that installs and passes its tests.",
    ),
    "check": LazyCommand(
        "lean_dojo_v2.cli.plugins_check:check", "Run the conformance checks on a distribution."
    ),
}


# `plugins` alone takes them as `plugins list` does.
_listing_options = options(
    click.option("--kind", type=click.Choice(list(registry.REGISTRIES)), help="Only this kind."),
    click.option(
        "--failed", is_flag=True, help="Only plugins that are not active, with the reason."
    ),
    click.option("--strict", is_flag=True, help="Exit with 1 if any plugin failed."),
    json_option,
)


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    short_help="List, check and write plugins.",
)
@_listing_options
@click.pass_context
def plugins(context: click.Context, /, **options: Any) -> None:
    """List the installed plugins: what they offer, and who brings it.

    Environment: LEAN_DOJO_DISABLE_PLUGINS (names, never loaded), LEAN_DOJO_PLUGINS (if set, no
    other third-party plugin is loaded), LEAN_DOJO_STRICT_PLUGINS=1 (any failure is fatal); names
    are distributions, entry points or distribution:entry-point, separated by commas.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, **options)


@plugins.command("list", short_help="List the installed plugins (as `plugins` alone does).")
@_listing_options
@click.pass_context
def list_(
    context: click.Context, kind: str | None, failed: bool, strict: bool, as_json: bool
) -> None:
    """List the installed plugins: what they offer, and who brings it."""
    # The listing is how one finds out what failed, so it is never refused itself.
    strict = strict or os.environ.pop(STRICT_VARIABLE, "").strip() not in {"", "0"}
    found = registry.current()
    idle = [info for info in found.plugins if info.status != "active"]
    if as_json:
        emit_json(_listing(kind, failed=failed))
    elif not failed:
        _print_offers(kind)
    if not as_json and (failed or idle):
        _print_idle(idle, alone=failed)
    if strict and found.failed:
        context.exit(1)


def _entries(kind: str | None) -> Iterator[tuple[str, registry.Entry[Any, Any]]]:
    """Give entries with the shortest name that is not ambiguous."""
    for name, entries in registry.REGISTRIES.items():
        if kind in {None, name}:
            yield from zip(entries, entries.entries(), strict=True)


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
    import attrs

    offers = [] if failed else [entry for _, entry in _entries(kind)]
    return {
        "offers": [
            {
                "kind": entry.spec.kind,
                **attrs.asdict(entry.spec),
                "qualified_name": entry.qualified_name,
                "distribution": entry.distribution,
                "version": entry.version,
                "plugin": entry.plugin.name,
            }
            for entry in offers
        ],
        "plugins": [
            attrs.asdict(info)
            for info in registry.current().plugins
            if not failed or info.status != "active"
        ],
    }
