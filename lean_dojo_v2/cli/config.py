"""``lean-dojo config``: commented settings files, and their JSON Schema."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from ruamel.yaml.error import YAMLError

from lean_dojo_core.errors import UsageError
from lean_dojo_core.hookspecs import KINDS
from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.cli.names import complete_any_name
from lean_dojo_v2.cli.options import ANY_FILE, options
from lean_dojo_v2.cli.output import emit_json, note
from lean_dojo_v2.cli.run import RUN_KEY, RunSection
from lean_dojo_v2.cli.show import find_entry, kind_option
from lean_dojo_v2.config import write_yaml
from lean_dojo_v2.described import Described, Description, describe, of_class, schema

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
    emit_json(schema(_with_run(describe(entry), entry.spec.kind), f"{entry.spec.kind} {name}"))


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
    about = _with_run(describe(entry), entry.spec.kind)
    text = "\n".join([*head, "", *_lines(about.settings)])
    if output is None:
        click.echo(text.rstrip())
        return
    if output.exists():
        raise UsageError(f"{output}: already exists; name another file")
    atomic_write_text(output, text.rstrip() + "\n")
    note(f"Written to {output}.")


def _with_run(about: Description, kind: str) -> Description:
    """Add the section ``run:`` for a trainer."""
    if not KINDS[kind].is_trained:
        return about
    section = Described(
        name=RUN_KEY,
        type="mapping",
        required=False,
        help="Data to train on; options on the command line override it.",
        inner=of_class(RunSection).settings,
        record=True,
    )
    return Description(about.doc, (*about.settings, section))


def _lines(settings: Iterable[Described], indent: str = "") -> Iterator[str]:
    for one in settings:
        kind = f"({one.type}{', required' if one.required else ''})"
        words = f"{one.help.replace('``', '`')} {kind}".strip()
        for line in textwrap.wrap(words, _WIDTH - len(indent), break_on_hyphens=False):
            yield f"# {indent}{line}"
        if one.record and one.inner:
            yield f"# {indent}{one.name}:"
            yield from _lines(one.inner, indent + "  ")
        elif one.required and not indent:
            yield f"{one.name}:"
        else:
            yield from _default(one, indent)
        if not indent:
            yield ""


def _default(one: Described, indent: str) -> Iterator[str]:
    try:
        text = write_yaml({one.name: one.default}).rstrip()
    except YAMLError:
        text = f"{one.name}: {one.shown}"
    for line in text.split("\n"):
        yield f"# {indent}{line}"
