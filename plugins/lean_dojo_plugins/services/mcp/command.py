"""``lean-dojo mcp``."""

from pathlib import Path

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval import RetrieverChoice
from lean_dojo_plugins.services.folders import ServedFolders, folders_option
from lean_dojo_v2 import cli, lean


@click.command()
@cli.with_options
def mcp(
    engine: str = cli.shared(cli.engine_option),
    project: Path | None = cli.option(
        **cli.FOLDER, help="Lake project whose modules may be imported."
    ),
    folders: tuple[str, ...] = cli.shared(folders_option, ()),
    choice: RetrieverChoice = cli.group(RetrieverChoice),
) -> None:
    """Serve Lean to coding agents over the Model Context Protocol, on standard input and output.

    Its tools show the goals at a place in a file, try several tactics there, check a proof or a
    whole file, and run code. Files must be in --project or a --folder; without these, in the
    current folder. With --checkpoint or --corpus, they also retrieve premises.
    """
    try:
        from lean_dojo_plugins.services.mcp.server import make_mcp_server
    except ModuleNotFoundError as error:
        raise UsageError(
            f"`lean-dojo mcp` needs {error.name}: pip install 'lean-dojo-v2[mcp]>=2'"
        ) from error

    served = ServedFolders.of(folders, project or (None if folders else Path.cwd()))
    pool = lean.EnginePool(size=1, engine=engine, project_path=project)
    retriever = choice.open if choice.checkpoint or choice.corpus else None
    make_mcp_server(pool, served, retriever=retriever).run()
