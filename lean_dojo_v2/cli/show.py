"""``lean-dojo show NAME``: everything about one plugin object."""

from __future__ import annotations

import inspect
import re
from typing import Any

import attrs
import click

from lean_dojo_core import registry
from lean_dojo_core.errors import AmbiguousNameError, UnknownNameError
from lean_dojo_core.settings import settings_of
from lean_dojo_core.suggestions import suggestion
from lean_dojo_v2.cli.names import complete_any_name
from lean_dojo_v2.cli.output import emit_json, json_option, paragraph
from lean_dojo_v2.structuring import with_inner

kind_option = click.option(
    "--kind",
    metavar="KIND",
    type=click.Choice(list(registry.REGISTRIES)),
    help=f"Kind of NAME, if several kinds have this name: {', '.join(registry.REGISTRIES)}.",
)


@click.command()
@click.argument("name", shell_complete=complete_any_name)
@kind_option
@json_option
def show(name: str, kind: str | None, as_json: bool) -> None:
    """Show the plugin object NAME, whatever its kind.

    Prints its settings with type, default and help (the keys of a `train` file), what it needs, and
    the distribution that provides it. NAME may be distribution:name.
    """
    entry = find_entry(name, kind)
    if not as_json:
        _print(entry)
        return
    target = entry.load()
    settings = [
        {
            "name": one.name,
            "type": one.type_text,
            "required": one.required,
            "default": None if one.required or one.computed else one.default,
            "help": one.help,
        }
        for one in settings_of(target)
    ]
    about = {"defined_in": _defined_in(target), "description": inspect.getdoc(target) or ""}
    emit_json({**entry.as_dict(), **about, "settings": settings})


def find_entry(name: str, kind: str | None = None) -> registry.Entry[Any, Any]:
    """Find a plugin object of any kind.

    Raises:
        UnknownNameError: If no plugin offers the name.
        AmbiguousNameError: If it exists in several kinds, or several distributions offer it.
    """
    registries = [entries for key, entries in registry.REGISTRIES.items() if kind in {None, key}]
    found = []
    for entries in registries:
        try:
            found.append(entries[name])
        except UnknownNameError:
            continue
    if not found:
        known = sorted({entry.name for entries in registries for entry in entries.entries()})
        raise UnknownNameError(
            f"no plugin offers {name!r}.{suggestion(name, known, heading='Installed')}"
            f"{registry.not_loaded()}"
        )
    if len(found) > 1:
        kinds = ", ".join(entry.spec.kind for entry in found)
        raise AmbiguousNameError(
            f"{name!r} is a name in several kinds; use --kind {found[0].spec.kind}, or another "
            f"of: {kinds}"
        )
    return found[0]


def _print(entry: registry.Entry[Any, Any]) -> None:
    target = entry.load()
    click.echo(paragraph(f"{entry.name}: {entry.spec.summary}"))
    click.echo()
    facts = {
        "kind": entry.spec.kind,
        "from": f"{entry.distribution} {entry.version} (plugin {entry.plugin.name})",
        "target": entry.spec.target,
        "defined in": _defined_in(target),
        **_needs(entry),
    }
    for key, value in facts.items():
        click.echo(f"{key:<18} {value}")
    if prose := description(inspect.getdoc(target) or ""):
        click.echo(f"\n{prose}")
    settings = settings_of(target)
    click.echo("\nSettings:" if settings else "\nIt has no settings.")
    for key, one in with_inner(settings):
        indent = 2 + 4 * key.count(".")
        click.echo(f"{' ' * indent}{one.name}: {one.shown}")
        if one.help:
            click.echo(paragraph(one.help, indent=indent + 4))


def _defined_in(target: Any) -> str:
    """Return ``file:line`` of a class, a function, a command's function, or an object's class."""
    code = inspect.unwrap(getattr(target, "callback", None) or target)
    code = code if inspect.isclass(code) or inspect.isroutine(code) else type(code)
    try:
        return f"{inspect.getsourcefile(code)}:{inspect.getsourcelines(code)[1]}"
    except (OSError, TypeError):  # not Python, or without source
        return "unknown"


def description(doc: str) -> str:
    """Return the prose of a docstring, without its sections and examples, in 80 columns."""
    prose = re.split(r"\n\n(?=(?:Args|Attributes|Returns|Raises|Examples?):|>>>)", doc)[0]
    paragraphs = re.sub(r":\w+:`~?", "`", prose.replace("``", "`")).split("\n\n")
    return "\n\n".join(text if "\n " in text else paragraph(text) for text in paragraphs)


def _needs(entry: registry.Entry[Any, Any]) -> dict[str, str]:
    """Return the further fields of the descriptor as text."""
    return {
        key.replace("_", " "): _in_words(value)
        for key, value in attrs.asdict(entry.spec).items()
        if key not in {"name", "target", "summary"} and value not in ((), None)
    }


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
