"""``lean-dojo mcp``."""

import functools
from pathlib import Path
from typing import Any

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.retrieval import RetrieverChoice
from lean_dojo_plugins.services.folders import ServedFolders, folders_option
from lean_dojo_v2.cli import FOLDER, engine_option, group, option, shared, with_options


@click.command()
@with_options
def mcp(
    engine: str = shared(engine_option),
    project: Path | None = option(**FOLDER, help="Lake project whose modules may be imported."),
    folders: tuple[str, ...] = shared(folders_option, ()),
    choice: RetrieverChoice = group(RetrieverChoice),
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
    from lean_dojo_v2.lean import EnginePool

    served = ServedFolders.of(folders, project or (None if folders else Path.cwd()))
    pool = EnginePool(size=1, engine=engine, project_path=project)
    retrieve = _retriever(choice) if choice.checkpoint or choice.corpus else None
    make_mcp_server(pool, served, retrieve=retrieve).run()


def _retriever(choice: RetrieverChoice) -> Any:
    """Make the function behind the tool; the model is opened when it is first asked."""
    opened = functools.cache(choice.open)

    def retrieve(state: str, count: int) -> list[dict[str, Any]]:
        (found,) = opened().retrieve([state], k=count)
        return [hit.to_dict() for hit in found]

    return retrieve
