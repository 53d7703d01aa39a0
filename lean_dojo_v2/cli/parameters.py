"""How commands declare options, the options that several of them share, and completion of names.

A command says what it takes in its signature, or in the fields of an attrs class for options that
belong together::

    @click.command()
    @with_options
    def preview(
        name: str = argument(shell_complete=complete_any_name),
        limit: int = option("-n", "--limit", **NUMBER, default=3, help="How many examples."),
        as_json: bool = shared(json_option),
        given: RunOptions = group(RunOptions),
    ) -> None:
"""

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click
from click.shell_completion import CompletionItem

from lean_dojo_core import registry

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""Type of an option or argument: a file that exists."""
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
"""Type of an option or argument: a folder that exists."""
ANY_FILE = click.Path(dir_okay=False, path_type=Path)
"""Type of an option or argument: a file, whether it exists or not."""
ANY_FOLDER = click.Path(file_okay=False, path_type=Path)
"""Type of an option or argument: a folder, whether it exists or not."""
NUMBER: dict[str, Any] = {"metavar": "N", "type": click.IntRange(min=1)}
"""Arguments of an option for a number of at least 1."""
FOLDER: dict[str, Any] = {"metavar": "DIR", "type": EXISTING_FOLDER}
"""Arguments of an option for a folder that exists."""
NEW_FOLDER: dict[str, Any] = {"metavar": "DIR", "type": ANY_FOLDER}
"""Arguments of an option for a folder that is made if needed."""


def option(*names: str, default: Any = None, **how: Any) -> Any:
    """Declare a parameter or a group's field as ``click.option(*names, …)``.

    It is named after the parameter unless ``names`` are given; ``--help`` shows its default.
    """
    if default is not None:
        how = {"default": default, "show_default": True, **how}
    elif how.get("multiple") or how.get("is_flag"):
        default = () if how.get("multiple") else False
    else:
        how["default"] = None  # a flag with two names is None if neither is given

    def declare(name: str) -> Callable[..., Any]:
        return click.option(*(names or [f"--{name.replace('_', '-')}"]), name, **how)

    return attrs.field(default=default, metadata={"declare": declare})


def argument(**how: Any) -> Any:
    """Declare a parameter or a group's field as ``click.argument(its name, …)``."""
    declare = functools.partial(click.argument, **how)
    return attrs.field(default=None, metadata={"declare": declare})


def shared(decorator: Callable[..., Any], default: Any = None) -> Any:
    """Declare a parameter or a group's field by the decorator that sets it."""
    return attrs.field(default=default, metadata={"declare": lambda _: decorator})


def group(kind: type) -> Any:
    """Declare a parameter that gets an object of an attrs class; its fields become options."""
    return attrs.field(metadata={"group": kind})


def with_options(command: CommandT) -> CommandT:
    """Add the options that a command's signature declares; ``--help`` keeps their order."""
    signature = inspect.signature(command).parameters.values()
    declared = {one.name: one.default.metadata for one in signature if one.default is not one.empty}
    groups = {name: how["group"] for name, how in declared.items() if "group" in how}

    @functools.wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        made = {
            name: kind(**{field: given.pop(field) for field in _fields(kind)})
            for name, kind in groups.items()
        }
        return command(*args, **given, **made)

    all_of_them: dict[str, Mapping[str, Any]] = {}
    for name, how in declared.items():
        all_of_them |= _fields(how["group"]) if "group" in how else {name: how}
    decorators = [how["declare"](name) for name, how in all_of_them.items()]
    decorated: CommandT = options(*decorators)(run)
    return decorated


def options(*added: Callable[..., Any]) -> Callable[..., Any]:
    """Combine options into one decorator; ``--help`` lists them in this order."""

    def decorate(command: CommandT) -> CommandT:
        for option in reversed(added):
            command = option(command)
        return command

    return decorate


def _fields(kind: type) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of a group's options by their fields."""
    return {one.name: one.metadata for one in attrs.fields(kind) if "declare" in one.metadata}


def _names_of(*kinds: str, or_a_file: bool = False) -> Callable[..., list[CompletionItem]]:
    """Make a completer for names of some kinds of plugins, or of all; optionally also for files."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        registries = registry.registries()
        found = [
            CompletionItem(name, help=registries[kind][name].spec.summary)
            for kind in kinds or registries
            for name in registries[kind]
            if name.startswith(incomplete.lower().replace("_", "-"))
        ]
        return [*found, *([CompletionItem(incomplete, type="file")] if or_a_file else [])]

    return complete


complete_trainer = _names_of("trainer")
complete_formatter = _names_of("dataset-formatter")
complete_reward = _names_of("reward-function")
"""Completes names of reward functions in the shell."""
complete_prover = _names_of("prover")
complete_benchmark = _names_of("benchmark", or_a_file=True)
complete_any_name = _names_of()


DEFAULT_DATABASE = Path("dynamic_database.json")


def database_option(*names: str, default: Path | None = DEFAULT_DATABASE) -> Any:
    """Declare ``--database``, without a default where a file's section ``run:`` may set it."""
    return option(
        *names,
        type=ANY_FILE,
        default=default,
        show_default=False,
        help=f"Database of traced repositories, .json or .sqlite (default: {DEFAULT_DATABASE}).",
    )


commit_option = option(
    metavar="COMMIT",
    help="Commit, tag or branch (default: a PATH as it is now, the default branch of a URL).",
)
config_option = option(
    "-c",
    "--config",
    multiple=True,
    type=EXISTING_FILE,
    help="YAML file with the trainer's settings; later files win.",
)
goal_option = option(metavar="PROPOSITION", help="A proposition, such as '∀ n : Nat, n + 0 = n'.")
import_option = option(
    "--import",
    multiple=True,
    metavar="MODULE",
    help="Module that a goal or statement needs; may be repeated.",
)
repo_option = option(
    "--repo",
    multiple=True,
    metavar="REPOSITORY",
    help="Only this repository: owner/name or address, optionally with @commit; may be repeated.",
)
set_option = option(
    "--set",
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
"""Of commands here and in plugins, so a decorator; see :func:`shared`."""


class KindType(click.ParamType[str]):
    """The name of a kind; which there are depends on the installed plugins."""

    name = "kind"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the name when it is given."""
        return click.Choice(list(registry.registries())).convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the name."""
        return click.Choice(list(registry.registries())).shell_complete(ctx, param, incomplete)


KIND = KindType()
