"""``lean-dojo show NAME`` and ``lean-dojo config``: a plugin object and its settings."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import click
from ruamel.yaml.error import YAMLError

from lean_dojo_core import PluginSpec, Setting, UsageError, registry, settings_of
from lean_dojo_core.errors import AmbiguousNameError
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import emit_json, json_option, note, paragraph
from lean_dojo_v2.cli.run import RUN_KEY, RunSection
from lean_dojo_v2.files import atomic_write_text
from lean_dojo_v2.settings import class_in, json_schema, with_inner, write_yaml

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RUN = Setting(
    name=RUN_KEY,
    annotation=RunSection,
    type_text="mapping",
    resolved=True,
    default=None,
    help="Data to train on; options on the command line override it.",
)
"""The section ``run:`` of a trainer's file."""
_WIDTH = 98
_name: Any = args.argument(shell_complete=args.complete_any_name)
_kind: Any = args.option(
    type=args.KIND,
    help="Kind of NAME, such as trainer or prover, if several kinds have this name.",
)


@click.command()
@args.with_options
def show(
    name: str = _name, kind: str | None = _kind, as_json: bool = args.shared(json_option)
) -> None:
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
    """Find a plugin object of any kind."""
    registries = registry.registries()
    if kind is not None:
        return registries[kind][name]
    found = [entries[name] for entries in registries.values() if name in entries]
    if len(found) > 1:
        kinds = ", ".join(entry.spec.kind for entry in found)
        raise AmbiguousNameError(
            f"{name!r} is a name in several kinds; use --kind {found[0].spec.kind}, or another "
            f"of: {kinds}"
        )
    return found[0] if found else registry.Registry[PluginSpec, Any](PluginSpec)[name]


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


@click.group()
def config() -> None:
    """Write a commented settings file, or a JSON Schema with which editors check one."""


@config.command("schema", short_help="Print the JSON Schema of NAME's settings.")
@args.with_options
def schema_command(name: str = _name, kind: str | None = _kind) -> None:
    """Print the JSON Schema of the file that `lean-dojo train NAME -c FILE` reads.

    An editor with a YAML language server completes and checks a file whose first line is
    `# yaml-language-server: $schema=sft.schema.json`.
    """
    entry = find_entry(name, kind)
    schema = json_schema(entry.load())
    if entry.spec.is_trained:
        schema["properties"][RUN_KEY] = json_schema(RunSection)
    emit_json({"$schema": DIALECT, **schema, "title": f"{entry.spec.kind} {name}"})


@config.command("init", short_help="Write a commented file with all of NAME's settings.")
@args.with_options
def init(
    name: str = _name,
    kind: str | None = _kind,
    output: Path | None = args.option(
        "-o",
        "--output",
        metavar="FILE",
        type=args.ANY_FILE,
        help="The file to write, which must not exist (default: standard output).",
    ),
) -> None:
    """Write a settings file for NAME, with the help, type and default of every setting.

    Settings with a default are commented out. Required settings are left empty.
    """
    entry = find_entry(name, kind)
    head = [f"# Settings of {entry.name} ({entry.distribution} {entry.version})"]
    if entry.spec.is_trained:
        head.append(f"# lean-dojo train {entry.name} -c {output or 'FILE'}")
    settings = [*settings_of(entry.load()), *([RUN] if entry.spec.is_trained else [])]
    text = "\n".join([*head, *_lines(settings)])
    if output is None:
        click.echo(text.rstrip())
        return
    if output.exists():
        raise UsageError(f"{output}: already exists; name another file")
    atomic_write_text(output, text.rstrip() + "\n")
    note(f"Written to {output}.")


def _lines(settings: Iterable[Setting]) -> Iterator[str]:
    for key, one in with_inner(settings):
        depth = key.count(".")
        indent, first = "  " * depth, [""] if depth == 0 else []
        yield from first
        kind = f"({one.type_text}{', required' if one.required else ''})"
        words = f"{one.help.replace('``', '`')} {kind}".strip()
        yield from textwrap.wrap(
            words,
            _WIDTH,
            initial_indent=f"# {indent}",
            subsequent_indent=f"# {indent}",
            break_on_hyphens=False,
        )
        if one.required and depth == 0:
            yield f"{one.name}:"
        elif class_in(one.annotation, attrs.has):
            yield f"# {indent}{one.name}:"
        else:
            yield from textwrap.indent(_default(one), f"# {indent}").split("\n")


def _default(one: Setting) -> str:
    unknown = one.required or one.computed
    try:
        return write_yaml({one.name: None if unknown else one.default}).rstrip()
    except YAMLError:
        return f"{one.name}: {one.default!r}"
