"""The ``lean-dojo`` program: its commands, exit codes and messages."""

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

import click

from lean_dojo_core import API_VERSION, LeanDojoError, registry
from lean_dojo_v2.cli.lazy import LazyCommand, ProgramGroup

COMPLETION = "_LEAN_DOJO_COMPLETE"
"""Set by the shell while it completes a line; click reads it."""

TRACEBACK_VARIABLE = "LEAN_DOJO_TRACEBACK"

_SHORT_WAITS = ("GOMP_SPINCOUNT", "1000")
"""How often torch's threads (GNU's OpenMP) look for each other before they give up the processor.

By default 300,000 times, about a millisecond. On a machine that is busy with other work, where the
other thread does not run meanwhile, that makes small models many times as slow.
"""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of writing to standard output."""

_SUMMARIES = {
    "plugins": "List, install, check and write plugins.",
    "show": "Show one plugin: its settings, and where it comes from.",
    "config": "Write a commented settings file, or its JSON Schema.",
    "train": "Train with a trainer on the database's repositories.",
    "preview": "Show the first examples as the model will see them.",
    "evaluate": "Measure the model that a trainer trained.",
    "prove": "Prove a goal, the `sorry`s of a file, or those of a database.",
    "check": "Have Lean check a file, or a proof, as a whole.",
    "bench": "Measure how many theorems of a benchmark a prover proves.",
    "agent": "Trace a repository, train on it, and prove its `sorry` theorems.",
    "trace": "Trace a Lean repository, or one file, into a database, with real Lean.",
    "database": "Show, browse, convert and export the database of traced repositories.",
    "lean": "Install, inspect or remove the embedded Lean engine.",
    "doctor": "Check versions, devices, Lean engines and plugins.",
    "completion": "Print the script for shell completion.",
}

_FILES = {"config": "show", "evaluate": "train", "completion": "program"}
"""Modules of the commands whose module has another name."""
COMMANDS = {
    name: LazyCommand(name, f"lean_dojo_v2.cli.{_FILES.get(name, name)}:{name}", summary)
    for name, summary in _SUMMARIES.items()
}
"""The commands of this package by name, in the order of ``lean-dojo --help``."""


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the host's version, then a line for each third-party plugin distribution."""
    if not value or context.resilient_parsing:
        return
    import platform

    from lean_dojo_v2 import __version__

    major, minor = API_VERSION
    python = platform.python_version()
    host = f"lean-dojo {__version__} (plugin API {major}.{minor}, Python {python})"
    plugins = {
        info.distribution: f"{info.distribution} {info.version}"
        + ("" if info.status == "active" else f" ({info.status})")
        for info in registry.current().plugins
        if not info.builtin
    }
    click.echo("\n".join([host, *plugins.values()]))
    context.exit()


def _keep_traceback(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        os.environ[TRACEBACK_VARIABLE] = "1"


@click.group(
    cls=ProgramGroup,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the versions of LeanDojo-v2 and of every installed plugin, and exit.",
)
@click.option(
    "--traceback",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_keep_traceback,
    help="Print Python's traceback with an error (for plugin authors).",
)
def cli() -> None:
    """Train AI theorem provers for Lean 4.

    Trainers, formatters, rewards, callbacks, provers, benchmarks and commands are plugins:
    `lean-dojo plugins` lists what is installed, `lean-dojo show NAME` lists the settings of each.
    """


_SHELLS = {
    "bash": 'eval "$(lean-dojo completion bash)"      in ~/.bashrc',
    "zsh": 'eval "$(lean-dojo completion zsh)"       in ~/.zshrc',
    "fish": "lean-dojo completion fish | source        in ~/.config/fish/config.fish",
}


@click.command(
    epilog="\b\nPut one line into your shell's start-up file:\n" + "\n".join(_SHELLS.values()),
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options and plugin names."""
    from click.shell_completion import get_completion_class

    source = get_completion_class(shell)
    assert source is not None
    program = context.find_root()
    click.echo(source(program.command, {}, "lean-dojo", COMPLETION).source())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with a command line without its name, or with the process's own.

    Returns the exit code: 0 for success, 1 for work that failed, 2 for a request that could not be
    understood, 130 after Ctrl-C. Errors are printed on stderr, one message each.
    """
    if arguments is None:
        os.environ.setdefault(*_SHORT_WAITS)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before the program began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    try:
        color = False if os.environ.get("NO_COLOR") else None  # None: on a terminal
        result = cli.main(arguments, prog_name="lean-dojo", standalone_mode=False, color=color)
    except (click.Abort, KeyboardInterrupt) as error:
        # click aborts from the interrupt; a long command's message says what to do.
        click.echo(str(error.__cause__ or error) or "Interrupted.", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        completing = COMPLETION in os.environ  # no messages while the user types
        code = 1 if completing else _explain(error)
        if code is None:
            raise
        return code
    finally:
        unwritten = _flush()
    if unwritten:
        return 1
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> int | None:
    """Print a user's error and return its exit code; ``None`` for an internal error."""
    if isinstance(error, LeanDojoError):
        code = error.exit_code
    elif isinstance(error, OSError) and (error.filename is not None or error.errno in _NO_ROOM):
        code = 1
    else:
        return None
    if os.environ.get(TRACEBACK_VARIABLE, "") not in {"", "0"}:
        import traceback

        traceback.print_exception(error)
    else:
        click.echo(f"Error: {_message(error)}", err=True)
    return code


def _message(error: Exception) -> str:
    """Return an error's message; without the number of a system error."""
    if isinstance(error, OSError):
        place = "the output" if error.filename is None else os.fsdecode(error.filename)
        return f"{place}: {error.strerror}"
    return str(error)


def _flush() -> bool:
    """Flush the output; return whether it could not be written. A closed pipe is no error."""
    full = False
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            full = full or getattr(error, "errno", None) in _NO_ROOM
            # The interpreter flushes once more at exit; give it somewhere to write to.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if full and stream is sys.stdout:
                click.echo(f"Error: {_message(error)}", err=True)
    return full
