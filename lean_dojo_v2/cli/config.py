"""``lean-dojo config``: commented settings files, and their JSON Schema."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
import click
from ruamel.yaml.error import YAMLError

from lean_dojo_core.errors import UsageError
from lean_dojo_core.settings import Setting, settings_of
from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.cli.names import complete_any_name
from lean_dojo_v2.cli.options import ANY_FILE, options
from lean_dojo_v2.cli.output import emit_json, note
from lean_dojo_v2.cli.run import RUN_KEY, RunSection
from lean_dojo_v2.cli.show import find_entry, kind_option
from lean_dojo_v2.config import write_yaml
from lean_dojo_v2.structuring import class_in, json_schema, with_inner

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
_named = options(
    click.argument("name", shell_complete=complete_any_name),
    kind_option,
)


@click.group()
def config() -> None:
    """Write a commented settings file, or a JSON Schema with which editors check one."""


@config.command("schema", short_help="Print the JSON Schema of NAME's settings.")
@_named
def schema_command(name: str, kind: str | None) -> None:
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
@_named
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=ANY_FILE,
    help="The file to write, which must not exist (default: standard output).",
)
def init(name: str, kind: str | None, output: Path | None) -> None:
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
