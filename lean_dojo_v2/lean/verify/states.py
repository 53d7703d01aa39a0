"""Open the state of a theorem in its file's context, and compare states as terms, never as text."""

import re
from hashlib import sha256
from typing import Any

import attrs

from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError, RequestError
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.text.source import SourceTheorem

_UNKNOWN_LEVEL = re.compile(r"unknown universe level [`'‘]+([^`'’\s]+)")


def open_expression(server: Server, expression: str) -> tuple[GoalState, tuple[str, ...]]:
    """Open a goal whose target is an expression, which may name universe levels: ``Type u``.

    Return it and its levels in order of occurrence; what is no proposition is a RequestError.
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

    If the statement does not elaborate, it is a LeanError.
    """
    state, _ = state_at(server, source, f"{source.head} := by\n  ", f"skip{source.closing}")
    # Lean puts `sorry` for terms that fail to elaborate; `sorry` in a string is harmless
    if any(token.text == "sorry" for token in code_tokens(str(state))):
        raise LeanError(
            f"{source.file_path}:{source.start[0]}: the statement of {source.full_name} does not "
            f"elaborate; Lean reads it as {state}"
        )
    return state


def open_step(
    server: Server, source: SourceTheorem, position: Position
) -> tuple[GoalState, dict[str, Any]]:
    """Open the state before the tactic at a position of a theorem's own proof.

    Recursive theorems are in scope: termination is only checked with the finished theorem, so no
    step is a proof before that. The answer is about the tactic and its sequence, in bytes of the
    text. A LeanError says that there is no tactic at that place.
    """
    start, place = source.offset(source.start), source.offset(position)
    if not start <= place < source.offset(source.end):
        raise LeanError(
            f"{source.file_path}:{position[0]}:{position[1]} is not in {source.full_name}; the "
            "file has changed since it was traced. Trace it again."
        )
    # With the rest of the file, so that what is elaborated here serves its later theorems, too.
    # An error before the tactic is raised, since Lean continues with other goals.
    played, rest = source.text[start:place], source.text[place:]
    return state_at(server, source, played, rest, clean=True, recursion=True)


def state_at(
    server: Server, source: SourceTheorem, played: str, rest: str, **flags: bool
) -> tuple[GoalState, dict[str, Any]]:
    """Open the state between the two parts of a declaration (``dojo.state_at``)."""
    server.begin(owner_of(server, source))
    fields = {
        **in_file(source, played + rest),
        "position": len((source.before + played).encode()),
        "kernel": asks_kernel(source, source.declaration),
    }
    return server.request_state("dojo.state_at", {**fields, **flags})


def in_file(source: SourceTheorem, declaration: str) -> dict[str, Any]:
    """Return the fields of a request about a declaration in a theorem's place."""
    return {
        "file": source.before + declaration,
        "fileName": source.file_path,
        "prefix": len(source.before.encode()),
        "header": source.header,
    }


def asks_kernel(source: SourceTheorem, declaration: str) -> bool:
    """Whether a theorem's file, with this declaration, asks Lean's kernel: ``decide +kernel``.

    Otherwise the kernel looks at it only once, in the judge. That another module has a macro which
    asks the kernel is not seen.
    """
    return "kernel" in source.before + declaration + source.rest_of_block


def owner_of(server: Server, source: SourceTheorem) -> str:
    """Return the owner of a theorem's text: its repository, its file, or the session."""
    alone = source.header and server.project_path is None
    return f"after {hash(source.before)}" if alone else server.home


@attrs.frozen
class StateDigest:
    """Digests of the goals of a state, in order: as parts of it, and of each by itself.

    Two goals share a digest if their hypotheses and targets are the same terms, in order. Names,
    printing options and hidden arguments do not matter. Whether a hypothesis is accessible does:
    after ``rename_i`` a proof can use more. That of ``each`` finds a goal in other states.
    """

    goals: tuple[str, ...]
    each: tuple[str, ...]


def state_digest(server: Server, state: GoalState, *, timeout: float | None = None) -> StateDigest:
    """Return the digests of a state; one whose engine is gone is a StaleStateError."""
    answer = server.ask("dojo.digest", {"stateId": state}, timeout)
    return StateDigest(tuple(answer["goals"]), tuple(answer["each"]))


def recorded_digest(digest: str) -> str:
    """Return a digest as traces record it: an engine's may be as long as the goal itself."""
    return sha256(digest.encode()).hexdigest()
