"""The ``lean-dojo`` program: one file a command, each imported only when it is used."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

import click

from lean_dojo_v2.cli.lazy import COMPLETION, LazyCommand
from lean_dojo_v2.cli.mounted import ProgramGroup

TRACEBACK_VARIABLE = "LEAN_DOJO_TRACEBACK"

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of writing to a pipe or file that the user gave us as standard output."""

COMMANDS = {
    "plugins": LazyCommand(
        "lean_dojo_v2.cli.plugins:plugins", "List, install, check and write plugins."
    ),
    "show": LazyCommand(
        "lean_dojo_v2.cli.show:show", "Show one plugin: its settings, and where it comes from."
    ),
    "config": LazyCommand(
        "lean_dojo_v2.cli.config:config", "Write a commented settings file, or its JSON Schema."
    ),
    "train": LazyCommand(
        "lean_dojo_v2.cli.train:train", "Train with a trainer on the database's repositories."
    ),
    "preview": LazyCommand(
        "lean_dojo_v2.cli.preview:preview", "Show the first examples as the model will see them."
    ),
    "reward": LazyCommand(
        "lean_dojo_plugins.rewards.command:reward",
        "Score completions with a reward, or check a reward function.",
    ),
    "evaluate": LazyCommand(
        "lean_dojo_v2.cli.evaluate:evaluate", "Measure the model that a trainer trained."
    ),
    "prove": LazyCommand(
        "lean_dojo_v2.cli.prove:prove",
        "Prove a goal, the `sorry`s of a file, or those of a database.",
    ),
    "check": LazyCommand(
        "lean_dojo_v2.cli.check:check", "Have Lean check a file, or a proof, as a whole."
    ),
    "bench": LazyCommand(
        "lean_dojo_v2.cli.bench:bench", "Measure how many theorems of a benchmark a prover proves."
    ),
    "agent": LazyCommand(
        "lean_dojo_v2.cli.agent:agent",
        "Trace a repository, train on it, and prove its `sorry` theorems.",
    ),
    "retrieve": LazyCommand(
        "lean_dojo_v2.cli.retrieve:retrieve",
        "Find the premises of a corpus that fit a proof state.",
    ),
    "index": LazyCommand(
        "lean_dojo_v2.cli.index:index", "Encode a corpus for retrieval, and save the index."
    ),
    "trace": LazyCommand(
        "lean_dojo_v2.cli.trace:trace",
        "Trace a Lean repository, or one file, into a database, with real Lean.",
    ),
    "database": LazyCommand(
        "lean_dojo_v2.cli.database:database",
        "Show, browse, convert and export the database of traced repositories.",
    ),
    "serve": LazyCommand(
        "lean_dojo_v2.cli.serve:serve",
        "Serve Lean's verdicts over HTTP, also to clients of Kimina Lean Server.",
    ),
    "mcp": LazyCommand(
        "lean_dojo_v2.cli.mcp:mcp",
        "Serve Lean to coding agents over the Model Context Protocol.",
    ),
    "merge-lora": LazyCommand(
        "lean_dojo_plugins.causal_lm.merge_command:merge_lora",
        "Merge a LoRA adapter into its base model.",
    ),
    "push": LazyCommand(
        "lean_dojo_v2.cli.push:push", "Put a trained model on the hub, with its card and report."
    ),
    "lean": LazyCommand(
        "lean_dojo_v2.cli.lean:lean", "Install, inspect or remove the embedded Lean engine."
    ),
    "demo": LazyCommand(
        "lean_dojo_plugins.demo.command:demo",
        "Prove, trace, train and prove more, on the shipped sample.",
    ),
    "report": LazyCommand(
        "lean_dojo_v2.cli.report:report",
        "Write one HTML page about a run's output folder, or to compare runs.",
    ),
    "doctor": LazyCommand(
        "lean_dojo_v2.cli.doctor:doctor", "Check versions, devices, Lean engines and plugins."
    ),
    "completion": LazyCommand(
        "lean_dojo_v2.cli.completion:completion", "Print the script for shell completion."
    ),
}
"""Name → where the command is, and the summary of ``lean-dojo --help`` (a test compares it with
the command's own)."""


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from lean_dojo_v2.cli.version import version_lines

    click.echo("\n".join(version_lines()))
    context.exit()


def _keep_traceback(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        os.environ[TRACEBACK_VARIABLE] = "1"


@click.group(
    cls=ProgramGroup,
    lazy=COMMANDS,
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

    Trainers, formatters, rewards, provers, benchmarks and commands are plugins: `lean-dojo plugins`
    lists what is installed, `lean-dojo show NAME` says what each one takes.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        arguments: Command line without the program's name; the process's own if not given.

    Returns:
        The exit code: 0 for success, 1 for work that failed, 2 for a request that could not be
        understood, 130 after Ctrl-C. Errors are printed on stderr, one message each.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before the program began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if COMPLETION in os.environ:
        from lean_dojo_v2.cli import completion  # noqa: F401 - makes our bash completion known
    try:
        result = cli.main(arguments, prog_name="lean-dojo", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt) as error:
        # click aborts from the interrupt; a long command's says what to do.
        click.echo(str(error.__cause__ or error) or "Interrupted.", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        code = _explain(error)
        if code is None:
            raise
        return code
    finally:
        unwritten = _flush()
    if unwritten:
        return 1
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> int | None:
    """Print an error that the user can do something about; ``None`` for a mistake of ours."""
    # Imported here: `lean-dojo --help` needs no contract.
    from lean_dojo_core.errors import LeanDojoError

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
    """Say what is wrong; of the system's errors without their number."""
    if isinstance(error, OSError):
        place = "the output" if error.filename is None else os.fsdecode(error.filename)
        return f"{place}: {error.strerror}"
    return str(error)


def _flush() -> bool:
    """Write what is buffered; a reader that went away (``| head``) is no error.

    Returns:
        Whether something could not be written, as on a full disk; that is said.
    """
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
