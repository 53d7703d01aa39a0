"""``lean-dojo completion SHELL``: the script that a shell evaluates."""

import click
from click.shell_completion import get_completion_class

from lean_dojo_v2.cli.program import COMPLETION

WHERE = {
    "bash": 'eval "$(lean-dojo completion bash)"      in ~/.bashrc',
    "zsh": 'eval "$(lean-dojo completion zsh)"       in ~/.zshrc',
    "fish": "lean-dojo completion fish | source        in ~/.config/fish/config.fish",
}


@click.command(
    epilog="\b\nPut one line into your shell's start-up file:\n" + "\n".join(WHERE.values()),
)
@click.argument("shell", type=click.Choice(list(WHERE)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options and plugin names."""
    source = get_completion_class(shell)
    assert source is not None
    program = context.find_root()
    click.echo(source(program.command, {}, "lean-dojo", COMPLETION).source())
