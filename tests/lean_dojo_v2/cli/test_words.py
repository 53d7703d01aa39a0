"""Every command's `--help`: 80 columns, one name and one text for one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from lean_dojo_v2.cli import cli

Run = Callable[..., Any]

OF_ITS_OWN = {
    "--data-path": "where `train` exports to, or what `evaluate` measures on",
    "--dataset": "the same",
    "--file": "a Lean file to prove, or a file of a corpus for `retrieve`",
    "--formatter": "`prove` asks which one the model was trained with; the others swap it",
    "--jobs": "one a core, or as many as `prove` is told",
    "--kind": "a filter of the listing; for `show`, which of two kinds",
    "--limit": "examples to print, or theorems to try",
    "--model": "a folder for `prove`, an endpoint's name for `agent external`",
    "--output": "what is written, and so where, differs: a folder, an index, a page, a database",
    "--output-dir": "the same of a folder",
    "--project": "a traced repository's files for `prove`, a Lake project for `serve`",
    "--set": "settings of a trainer, or options of a reward",
    "--timeout": "of a theorem that is proved, or of a file that is traced, or of a question",
    "--whole-proof": "`bench` counts each sample as an attempt",
    "--workers": "as `--jobs`",
}
"""Options that several commands have with different help, and why."""

WITHOUT_JSON = {
    "mcp": "it answers others",
    "serve": "it answers others",
    "index": "prints one path",
    "lean install": "prints one path",
    "lean repl": "it answers others",
    "lean remove": "prints one path a line",
    "database import": "prints nothing",
    "plugins new": "prints a script",
    "plugins install": "pip prints",
    "plugins uninstall": "pip prints",
    "plugins enable": "prints nothing",
    "plugins disable": "prints nothing",
    "completion": "prints a script",
    "config init": "prints a file of settings",
    "config schema": "prints JSON and nothing else",
}


def commands(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = dict(commands())


@pytest.mark.parametrize("name", ["", *ALL])
def test_help_reads_well_in_80_columns(
    name: str, lean_dojo: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = lean_dojo(*name.split(), "--help")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if re.search(r"\w-$|\.\.\.$", line) and "ARGS" not in line] == []
    assert "\x1b" not in ran.out
    assert lean_dojo(*name.split(), "-h").out == ran.out


def options() -> dict[str, dict[tuple[str, str], list[str]]]:
    """Give option → (metavar, help) → the commands that say so."""
    found: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, command in ALL.items():
        context = click.Context(command)
        for option in command.params:
            if isinstance(option, click.Option):
                said = (option.make_metavar(context), option.help or "")
                for long in [text for text in option.opts if text.startswith("--")]:
                    found[long][said].append(name)
    return found


def test_one_option_has_one_help() -> None:
    several = {name: list(said.values()) for name, said in options().items() if len(said) > 1}
    assert {name: several[name] for name in several.keys() - OF_ITS_OWN.keys()} == {}
    assert several.keys() == OF_ITS_OWN.keys()


def test_what_a_command_does_and_an_option_takes_is_said() -> None:
    assert [name for name, command in ALL.items() if not command.help] == []
    for name, said in options().items():
        for (metavar, text), where in said.items():
            assert text, (name, where)
            assert not re.search("TEXT|INTEGER|FLOAT|RANGE|DIRECTORY|%", metavar) or (
                name == "--summary"
            ), (name, metavar, where)


def test_whatever_prints_data_has_json() -> None:
    plain = {
        name
        for name, command in ALL.items()
        if not isinstance(command, click.Group)
        and not any("--json" in parameter.opts for parameter in command.params)
    }
    assert plain == WITHOUT_JSON.keys()
