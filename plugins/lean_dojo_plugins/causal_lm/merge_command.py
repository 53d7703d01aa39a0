"""``lean-dojo merge-lora``."""

from pathlib import Path

import click

from lean_dojo_v2.cli import emit_json, json_option, long_command, note


@click.command("merge-lora")
@click.argument("adapter", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the merged model (default: ADAPTER-merged).",
)
@json_option
@long_command(resumes=False)
def merge_lora(adapter: Path, output: Path | None, as_json: bool) -> None:
    """Merge the LoRA adapter in the folder ADAPTER into its base model.

    The result is a plain model with its tokenizer, in the weight type of the base model, for
    servers and tools that cannot load adapters.
    """
    from lean_dojo_plugins.causal_lm.model.adapters import merge_lora as merge
    from lean_dojo_plugins.training import bars_on_terminals_only

    folder = adapter.absolute()
    merged = output or folder.with_name(f"{folder.name}-merged")
    with bars_on_terminals_only():
        dtype = merge(adapter, merged)
    note(f"Merged {adapter} into its base model ({dtype}).")
    if as_json:
        emit_json({"adapter": str(adapter), "model": str(merged), "dtype": dtype})
    else:
        click.echo(str(merged))
