"""``lean-dojo completion SHELL``: the script that a shell evaluates."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from lean_dojo_v2.cli.lazy import COMPLETION

SHELLS = ("bash", "zsh", "fish")
WHERE = {
    "bash": 'eval "$(lean-dojo completion bash)"      in ~/.bashrc',
    "zsh": 'eval "$(lean-dojo completion zsh)"       in ~/.zshrc',
    "fish": "lean-dojo completion fish | source        in ~/.config/fish/config.fish",
}


@add_completion_class
class WholeWords(BashComplete):
    """Bash's completion by what the user typed: readline cuts words at ``=`` and ``:``.

    Only the piece after the last cut is given back, since that is all that readline replaces. No
    space follows a word that goes on.
    """

    name = "bash"
    source_template = BashComplete.source_template.replace(
        'COMP_WORDS="${COMP_WORDS[*]}"',
        'COMP_WORDS="${COMP_LINE:0:$COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS"',
    ).replace(
        "COMPREPLY+=($value)",
        "COMPREPLY+=($value); [[ $value == *[=.] ]] && compopt -o nospace",
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor's, and what is typed of that."""
        line = os.environ["COMP_WORDS"]
        _, *words = split_arg_string(line)
        return (words, "") if line[-1:].isspace() or not words else (words[:-1], words[-1])

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Leave out what readline keeps."""
        _, typed = self.get_completion_args()
        breaks = set(os.environ.get("COMP_WORDBREAKS", "=:")) & {"=", ":"}
        kept = max((typed.rfind(sign) + 1 for sign in breaks), default=0)
        return f"{item.type},{item.value[kept:] if item.type == 'plain' else item.value}"


@click.command(
    epilog="\b\nPut one line into your shell's start-up file:\n" + "\n".join(WHERE.values()),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, plugin names and settings."""
    source = get_completion_class(shell)
    assert source is not None
    program = context.find_root()
    click.echo(source(program.command, {}, "lean-dojo", COMPLETION).source())
