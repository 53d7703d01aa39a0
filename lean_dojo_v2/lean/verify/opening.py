"""Open the state of a theorem, or of a tactic in its proof, in its file's context.

The engine's command ``dojo.state_at`` gives the exact state around a tactic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError, RequestError
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.judged import owner_of

_UNKNOWN_LEVEL = re.compile(r"unknown universe level [`'‘]+([^`'’\s]+)")


def open_expression(server: Server, expression: str) -> tuple[GoalState, tuple[str, ...]]:
    """Open a goal whose target is an expression, which may name universe levels: ``Type u``.

    Returns:
        The goal, and the names of its levels in order of occurrence.

    Raises:
        RequestError: If Lean cannot read it as a proposition.
    """
    server.begin(server.home)
    levels: tuple[str, ...] = ()
    while True:
        try:
            return server.goal_start(expression, levels=levels), levels
        except RequestError as error:
            unknown = _UNKNOWN_LEVEL.search(str(error))
            if unknown is None or unknown[1] in levels:
                raise
            levels = (*levels, unknown[1])


def open_theorem(server: Server, source: SourceTheorem) -> GoalState:
    """Open the goal of a theorem in its file's context, without itself in scope.

    Raises:
        LeanError: If the statement does not elaborate.
    """
    declaration = f"{source.head} := by\n  "
    state = _state_at(server, source, declaration, f"skip{source.closing}")
    # Lean puts `sorry` for terms that fail to elaborate; `sorry` in a string is harmless
    if any(token.text == "sorry" for token in code_tokens(str(state))):
        raise LeanError(
            f"{source.file_path}:{source.start[0]}: the statement of {source.full_name} does not "
            f"elaborate; Lean reads it as {state}"
        )
    return state


@attrs.frozen
class Block:
    """A sequence of tactics inside a tactic, such as an alternative of ``induction``.

    Attributes:
        start: Index of its first character in the file's text.
        end: Index after its last one.
        goal: Digest of its first goal; ``None`` if it never ran.
    """

    start: int
    end: int
    goal: str | None


@attrs.frozen
class Opened:
    """The state before a tactic of a proof, and the sequence around it.

    Attributes:
        state: The goals.
        members: Start and end of the sequence's tactics in the file's text, from this one on.
        column: The column, from 0, of the sequence's lines.
        blocks: The outermost sequences inside the tactic.
        after: Digests of the goals after it, each by itself.
    """

    state: GoalState
    members: tuple[tuple[int, int], ...]
    column: int
    blocks: tuple[Block, ...]
    after: tuple[str, ...]


def open_exact(server: Server, source: SourceTheorem, position: Position) -> GoalState:
    """Open the state before the tactic at a position of a theorem's own proof.

    Raises:
        LeanError: If there is no tactic at that place.
    """
    return _state_at(server, source, *_around(source, position), clean=True)


def open_step(server: Server, source: SourceTheorem, position: Position) -> Opened:
    """Open the same state with the rest of the proof, with recursive theorems in scope.

    Termination is only checked with the finished theorem, so no step is a proof before that.

    Raises:
        LeanError: If there is no tactic at that place.
    """
    played, rest = _around(source, position)
    fields = {**_request(server, source, played, rest), "clean": True, "recursion": True}
    state, answer = server.request_state("dojo.state_at", fields)
    index = PositionMap(source.text).index_of_byte

    def span(first: Sequence[int], last: Sequence[int]) -> tuple[int, int]:
        return index(first[0]), index(last[1])

    return Opened(
        state,
        tuple(span(member, member) for member in answer["members"]),
        int(answer["column"]),
        tuple(
            Block(*span(block["members"][0], block["members"][-1]), block["goal"])
            for block in answer["blocks"]
        ),
        tuple(answer["after"]),
    )


def _around(source: SourceTheorem, position: Position) -> tuple[str, str]:
    """Return the text before and after a position of a declaration, within its command."""
    start, place = source.offset(source.start), source.offset(position)
    if not start <= place < source.offset(source.end):
        raise LeanError(
            f"{source.file_path}:{position[0]}:{position[1]} is not in {source.full_name}; the "
            "file has changed since it was traced. Trace it again."
        )
    played, rest = source.text[start:place], source.text[place : source.offset(source.end)]
    return played, rest + source.rest_of_block


def _state_at(
    server: Server, source: SourceTheorem, played: str, rest: str, *, clean: bool = False
) -> GoalState:
    """Open the state between the two parts of a declaration.

    With ``clean``, an error in the first part is raised, since Lean continues with other goals.
    """
    fields = {**_request(server, source, played, rest), "clean": clean}
    return server.request_state("dojo.state_at", fields)[0]


def _request(server: Server, source: SourceTheorem, played: str, rest: str) -> dict[str, object]:
    server.begin(owner_of(server, source))
    return {
        "file": source.before + played + rest,
        "fileName": source.file_path,
        "position": len((source.before + played).encode()),
        "stateBefore": True,
        "prefix": len(source.before.encode()),
        "header": source.header,
    }
