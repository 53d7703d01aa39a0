"""Options that several commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
ANY_FILE = click.Path(dir_okay=False, path_type=Path)
ANY_FOLDER = click.Path(file_okay=False, path_type=Path)
"""Types of paths; ``ANY_…`` need not exist."""
NUMBER: dict[str, Any] = {"metavar": "N", "type": click.IntRange(min=1)}
FOLDER: dict[str, Any] = {"metavar": "DIR", "type": EXISTING_FOLDER}
NEW_FOLDER: dict[str, Any] = {"metavar": "DIR", "type": ANY_FOLDER}
"""Arguments shared by many options."""


def options(*added: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Combine options into one decorator; ``--help`` lists them in this order."""

    def decorate(command: CommandT) -> CommandT:
        for option in reversed(added):
            command = option(command)
        return command

    return decorate


def option(*names: str, default: Any = None, **how: Any) -> Any:
    """Make a field of a group, filled by ``click.option(*names, …)``; see :func:`grouped`.

    Args:
        *names: Names of the option; default: the field's, with ``--``.
        default: Default of option and field, shown by ``--help``.
        **how: Arguments of ``click.option``.
    """
    if default is not None:
        how = {"default": default, "show_default": True, **how}
    else:
        default = () if how.get("multiple") else False if how.get("is_flag") else None
    return attrs.field(default=default, metadata={"option": (names, how)})


def filled_by(decorator: Callable[..., Any], default: Any = None) -> Any:
    """Make a field of a group, filled by a shared option or argument."""
    return attrs.field(default=default, metadata={"click": decorator})


def grouped(**groups: type) -> Callable[[CommandT], CommandT]:
    """Add groups of options to a command: each parameter gets an object of an attrs class.

    Fields made by :func:`option` or :func:`filled_by` are filled. ``--help`` lists the options in
    the order of the groups and their fields.
    """

    def decorate(command: CommandT) -> CommandT:
        @functools.wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            made = {
                name: group(**{field.name: given.pop(field.name) for field in _filled(group)})
                for name, group in groups.items()
            }
            return command(*args, **given, **made)

        fields = [field for group in groups.values() for field in _filled(group)]
        decorated: CommandT = options(*map(_decorator, fields))(run)
        return decorated

    return decorate


def _filled(group: type) -> list[attrs.Attribute[Any]]:
    return [one for one in attrs.fields(group) if one.metadata.keys() & {"option", "click"}]


def _decorator(field: attrs.Attribute[Any]) -> Callable[..., Any]:
    if "option" not in field.metadata:
        return field.metadata["click"]  # type: ignore[no-any-return]
    names, how = field.metadata["option"]
    return click.option(*(names or [f"--{field.name.replace('_', '-')}"]), **how)


DEFAULT_DATABASE = Path("dynamic_database.json")
"""The default database."""


def database_option(
    *names: str, default: Path | None = DEFAULT_DATABASE
) -> Callable[[CommandT], CommandT]:
    """Make the option ``--database``.

    Args:
        *names: Names of the option and its parameter; default: ``--database``.
        default: ``None`` if a file's section ``run:`` may set it.
    """
    return click.option(
        *(names or ("--database",)),
        type=ANY_FILE,
        default=default,
        help=f"Database of traced repositories, .json or .sqlite (default: {DEFAULT_DATABASE}).",
    )


commit_option = click.option(
    "--commit",
    metavar="COMMIT",
    help="Commit, tag or branch (default: a PATH as it is now, the default branch of a URL).",
)
config_option = click.option(
    "-c",
    "--config",
    "files",
    multiple=True,
    type=EXISTING_FILE,
    help="YAML file with the trainer's settings; later files win.",
)
goal_option = click.option(
    "--goal", metavar="PROPOSITION", help="A proposition, such as '∀ n : Nat, n + 0 = n'."
)
import_option = click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="MODULE",
    help="Module that a goal or statement needs; may be repeated.",
)
set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one setting, for example lr=1e-5 or lora_config.r=16; may be repeated.",
)


def _sandbox(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Set it for this process and its children, which run the engines."""
    if value:
        os.environ["LEAN_DOJO_SANDBOX"] = "1"


engine_option = options(
    click.option(
        "--engine",
        type=click.Choice(["auto", "native", "embedded"]),
        default="auto",
        show_default=True,
        help="native: the project's own Lean. embedded: the Lean that LeanDojo brings.",
    ),
    click.option(
        "--sandbox",
        is_flag=True,
        expose_value=False,
        callback=_sandbox,
        help="Run native engines in bubblewrap: no network, no writing.",
    ),
)
repo_option = click.option(
    "--repo",
    "repositories",
    multiple=True,
    metavar="REPOSITORY",
    help="Only this repository: owner/name or address, optionally with @commit; may be repeated.",
)
