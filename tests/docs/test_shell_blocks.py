"""Every command of the documentation is one that exists: options, choices, names, settings."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import attrs
import click
import pytest

from lean_dojo_core import registry
from lean_dojo_core.settings import settings_of
from lean_dojo_v2.cli import cli
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_progress.create_sample_dataset import main as create_sample_dataset
from lean_dojo_v2.sample import sample_database_path
from lean_dojo_v2.settings import class_in, parse_assignment

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "lean_dojo_v2": cli,
    "lean_dojo_v2.lean_progress.create_sample_dataset": create_sample_dataset,
}
VARIABLES = {"LEANPROGRESS_MODEL", "RAID_DIR", "LEAN_DOJO_ENGINE", "LEAN_DOJO_SERVE_TOKEN"}


def parse(command: click.Command, arguments: list[str], name: str = "lean-dojo") -> None:
    """Parse a command line with click's own parser; nothing is run and no file is looked at."""
    context = click.Context(command, info_name=name, **command.context_settings)
    while True:
        parsed, rest, _ = command.make_parser(context).parse_args(list(arguments))
        # click marks what was not given by a sentinel of its own
        given = {name: v for name, v in parsed.items() if isinstance(v, (str, bool, list, tuple))}
        for parameter in command.params:
            _check(parameter, given.get(parameter.name), context)
        if not isinstance(command, click.Group) or not rest:
            break
        found, inner, arguments = command.resolve_command(context, rest)
        assert inner is not None
        context = click.Context(inner, info_name=found, parent=context)
        command = inner
    assert not rest or isinstance(command, click.Group), f"what is {rest}?"
    _check_names(command, context, given)


def _check(parameter: click.Parameter, value: Any, context: click.Context) -> None:
    if value is None and isinstance(parameter, click.Argument) and parameter.required:
        raise click.MissingParameter(ctx=context, param=parameter)
    if isinstance(value, bool) or isinstance(parameter.type, click.Path):
        return
    for one in [value] if isinstance(value, str) else value or ():
        parameter.type.convert(one, parameter, context)


def _check_names(command: click.Command, context: click.Context, given: dict[str, Any]) -> None:
    """Look plugins up, and the settings that ``--set`` names."""
    own = context.command_path.split()[-1]
    name = given.get("name")
    if own == "lean":  # `agent lean` trains the retriever
        name = "retrieval"
    elif own == "hf":
        name = name or "sft"
    if own in {"train", "evaluate", "preview", "show", "hf", "lean"} and name is not None:
        one = own not in {"preview", "show"}
        places = [registry.trainers] if one else registry.registries().values()
        [entry] = [place[name] for place in places if name in place]
        for text in given.get("assignments") or ():
            _check_setting(entry.load(), parse_assignment(text).values)
    for reward in given.get("rewards") or ():
        assert re.sub(r":[\d.]+$", "", reward) in registry.reward_functions


def _check_setting(target: Any, values: dict[str, Any]) -> None:
    settings = {setting.name: setting for setting in settings_of(target)}
    for key, value in values.items():
        assert key in settings, f"{target.__name__} has no setting {key}"
        record = class_in(settings[key].annotation, attrs.has)
        if record is not None and isinstance(value, dict):
            _check_setting(record, value)


def check_line(line: str) -> None:
    """Check one line of a shell block: each command of a chain or pipe."""
    line = re.sub(r'^eval "\$\((.*)\)"$', r"\1", line)
    for part in re.split(r" && | \| ", line):
        check_command(part.strip())


def check_command(line: str) -> None:
    """Check one command."""
    words = shlex.split(line)
    while words and re.fullmatch(r"[A-Z_]+=\S+", words[0]):
        assert words.pop(0).partition("=")[0] in VARIABLES
    if words[0] in {"git", "cd", "printf", "source"} or words[:2] == ["pip", "install"]:
        return  # not ours; test_install_lines.py looks at what pip is asked for
    if words[0] == "lean-dojo":
        parse(cli, words[1:])
    elif words[:2] == ["python", "-m"]:
        parse(MODULES[words[2]], words[3:])
    elif words[:2] == ["accelerate", "launch"]:
        from accelerate.commands.launch import launch_command_parser

        launched = launch_command_parser().parse_args(words[2:])
        assert launched.module
        assert (ROOT / "docs" / launched.config_file).is_file()
        parse(MODULES[launched.training_script], launched.training_script_args)
    elif words[0] == "torchrun":
        from torch.distributed.run import get_args_parser

        started = get_args_parser().parse_args(words[1:])
        assert started.module
        parse(MODULES[started.training_script], started.training_script_args)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[0] == "export":
        assert words[1].partition("=")[0] in VARIABLES
    else:
        pytest.fail(f"what is {line!r}? Say why it cannot be checked: <!-- test: skip - … -->")


def test_the_command_exists(shell_line: str) -> None:
    check_line(shell_line)


def test_every_file_that_a_command_names_is_shown(all_blocks: list[Any]) -> None:
    titles = {block.title for block in all_blocks}
    for block in all_blocks:
        for name in re.findall(r"-c (\S+\.yaml)", block.code if block.language == "sh" else ""):
            assert name in titles or (ROOT / "docs" / name).is_file(), f"{block}: {name}"


def test_every_theorem_that_a_command_names_waits_in_the_sample(all_blocks: list[Any]) -> None:
    theorems = DynamicDatabase(sample_database_path())
    left = {t.full_name for r in theorems.repositories for t in r.sorry_theorems_unproved}
    shell = [block.code for block in all_blocks if block.language == "sh"]
    named = {name for code in shell for name in re.findall(r"--theorem ([\w.]+\.\w+)", code)}
    assert named
    assert named <= left


def test_every_benchmark_that_a_page_names_is_there(all_blocks: list[Any]) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {n for p in pages for n in re.findall(r"experiments/\w+\.py", p.read_text("utf-8"))}
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("lean-dojo train sft --speed 3", click.NoSuchOption),
        ("lean-dojo trian sft", click.NoSuchCommand),
        ("lean-dojo train stf", Exception),
        ("lean-dojo train sft --set leraning_rate=1", AssertionError),
        ("lean-dojo trace x --engine other", click.BadParameter),
        ("lean-dojo show", click.MissingParameter),
        ("lean-dojo doctor now", AssertionError),
    ],
)
def test_the_check_finds_mistakes(line: str, wrong: type[Exception]) -> None:
    with pytest.raises(wrong):
        check_line(line)
