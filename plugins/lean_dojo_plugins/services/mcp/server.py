"""Lean for coding agents over the Model Context Protocol, even without a toolchain."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_plugins.services.folders import NotGivenError, ServedFolders
from lean_dojo_plugins.services.serve import positions
from lean_dojo_v2.lean import EnginePool, parse_header
from lean_dojo_v2.prover import GoalProblem, judge_file, judge_proof

INSTRUCTIONS = """\
Lean 4 without a toolchain. Find the goals of a file with `sorries` or `goals`, try several tactics
at a `sorry` with `try_tactics`, write the one that closes it into the file, and check the whole
file with `check_file`: it says whether every theorem is proved, without sorry, new axioms or native
code. Lines count from 1, columns from 0."""

SECONDS = 300.0
"""Seconds that Lean may take for a call."""

Answer = dict[str, Any]


def make_mcp_server(
    pool: EnginePool,
    folders: ServedFolders,
    *,
    retriever: Callable[[], Any] | None = None,
) -> MCPServer[Any]:
    """Make the server, which reads files of ``folders`` and closes its engines at its end.

    The retriever is opened when it is first asked.
    """

    @asynccontextmanager
    async def lifespan(_server: MCPServer[Any]) -> AsyncIterator[None]:
        with closing(pool):
            yield

    server: MCPServer[Any] = MCPServer("lean-dojo", instructions=INSTRUCTIONS, lifespan=lifespan)

    submit: Any = pool.submit

    async def run(fn: Callable[..., Any], *fields: Any, header: str | None = None) -> Any:
        try:
            answer = submit(fn, *fields, SECONDS, header=header, name=fn.__name__)
            return await asyncio.wrap_future(answer)
        except LeanDojoError as error:  # the text of other errors does not reach the client
            raise ToolError(str(error)) from error

    async def run_on(file: str, fn: Callable[..., Any], *fields: Any) -> Any:
        text = _read(file, folders)
        return await run(fn, text, *fields, header=" ".join(parse_header(text).modules))

    @server.tool()
    async def sorries(file: str) -> list[Answer]:
        """List every `sorry` of a Lean file: its line, column and goal."""
        return list(await run_on(file, positions.sorries))

    @server.tool()
    async def goals(file: str, line: int, column: int) -> Answer:
        """Show the goals before and after the tactic at a place in a Lean file."""
        return dict(await run_on(file, positions.goals_at, line, column))

    @server.tool()
    async def try_tactics(file: str, line: int, column: int, tactics: list[str]) -> list[Answer]:
        """Try several tactics in place of the `sorry` at a place; nothing is written."""
        return list(await run_on(file, positions.try_at, (line, column), tactics))

    @server.tool()
    async def check_file(file: str, reference: str | None = None) -> Answer:
        """Check a Lean file: its errors, and whether each theorem is really proved.

        With a reference file, its theorems must be there with the same statements.
        """
        stated = None if reference is None else _read(reference, folders)
        return dict(await run_on(file, judge_file, stated))

    @server.tool()
    async def check_proof(goal: str, proof: str) -> Answer:
        """Check a block of tactics as a proof of a goal, such as `∀ n : Nat, n + 0 = n`."""
        return dict(await run(judge_proof, GoalProblem(goal), proof))

    @server.tool()
    async def run_code(code: str) -> Answer:
        """Run Lean code, such as `#eval 1 + 1` or `#check Nat.succ`; return Lean's output."""
        return dict(await run(judge_file, code, None))

    if retriever is not None:
        opened = functools.cache(retriever)

        @server.tool()
        def premises(state: str, count: int = 10) -> list[Answer]:
            """Find the theorems and definitions that fit a proof state, best first."""
            [found] = opened().retrieve([state], k=count)
            return [hit.to_dict() for hit in found]

    return server


def _read(file: str, folders: ServedFolders) -> str:
    try:
        return folders.admitted(file, "the file").read_text(encoding="utf-8")
    except NotGivenError as error:
        raise ToolError(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{file}: {error}") from error
