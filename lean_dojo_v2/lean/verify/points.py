"""A point of a proof: its state, the traced continuation, and alternative endings."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

import attrs

from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.goal_text import Start, start_of
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import check_declaration, goal_source
from lean_dojo_v2.lean.verify.screening import cites
from lean_dojo_v2.lean.verify.states import StateDigest, open_expression, open_step, state_digest

_FILLER = "skip;"


Finish: TypeAlias = Callable[[Server, tuple[str, ...], int | None, float], ProofOutcome]
"""Verifies a whole theorem with tactics in place of a point's own one, with a limit of seconds.

The traced proof follows from a tactic of its block (0 is the point's own); ``None``: not at all.
"""


@attrs.frozen
class ProofPoint:
    """A point of a proof, open in an engine.

    Attributes:
        state: The goals there.
        digest: Digests of them by this engine.
        finish: Checks the whole theorem with other tactics from here on.
        key: Cache key, equal for equal points.
        rest: Ends of the traced proof, longest first: all tactics of its block from here on,
            then without the first, and so on. Empty for an unknown proof.
        after: Digests of the goals that the traced proof's own tactic leaves, each by itself.
        blocks: The proofs inside that tactic, each as one tactic, by the digest of its first goal.
        own_names: Names of the theorem, which no tactic may cite.
    """

    state: GoalState
    digest: StateDigest
    finish: Finish = attrs.field(repr=False)
    key: Hashable
    rest: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    blocks: Mapping[str, str] = attrs.field(factory=dict)
    own_names: tuple[str, ...] = ()


def theorem_point(server: Server, source: SourceTheorem, position: Position) -> ProofPoint:
    """Open the point before the tactic at a position of a theorem's own proof.

    That there is no tactic at that place is a LeanError.
    """
    state, answer = open_step(server, source, position)
    text, end, column = source.text, source.offset(source.end), int(answer["column"])
    index = source.places.index_of_byte
    starts = [index(start) for start, _ in answer["members"]]
    block_end = index(answer["members"][-1][1])
    line = "\n" + " " * column

    def finish(
        server: Server, tactics: tuple[str, ...], resume: int | None, timeout: float
    ) -> ProofOutcome:
        # Each on its own line, in the block's column, since it may contain blocks.
        own = line.join(f"({tactic})" for tactic in tactics)
        after = text[block_end:end]
        if resume is not None:
            after = "\n" + _aligned(text, starts[resume], column) + text[starts[resume] : end]
        declaration = text[source.offset(source.start) : starts[0]] + own + after
        return check_declaration(server, source, declaration, timeout=timeout)

    blocks = {
        block["goal"]: "· "
        + _alone(text, index(block["members"][0][0]), index(block["members"][-1][1]))
        for block in answer["blocks"]
        if block["goal"] is not None  # it ran
    }
    found = state_digest(server, state)
    place = (source.file_path, source.before, source.declaration, position)
    return ProofPoint(
        state,
        found,
        finish,
        hash((_answerer(server), place, found.goals)),
        tuple(_alone(text, start, block_end, column) for start in starts),
        tuple(answer["after"]),
        blocks,
        tuple(name for name in source.own_names if not cites(source.proof, name)),
    )


def _alone(text: str, start: int, end: int, column: int | None = None) -> str:
    """Return tactics as one, in parentheses, at their columns; ``column`` is as for `_aligned`."""
    return f"(\n{_aligned(text, start, column)}{text[start:end]}\n)"


def _aligned(text: str, start: int, column: int | None = None) -> str:
    """Return the prefix that keeps a tactic at its column on a line of its own.

    A block, at ``column``, that is cut in the middle of a line begins with a filler.
    """
    own = start - (text.rfind("\n", 0, start) + 1)
    if column is None or own <= column:
        return " " * own
    filler = _FILLER.ljust(own - column)
    return " " * column + (filler if len(filler) == own - column else "")


def goal_point(server: Server, text: str) -> ProofPoint:
    """Open the first goal of a text as :func:`.goal_text.open_goal` does, with its errors."""
    server.begin(server.home)
    start = start_of(text, first_only=True)
    return _bare(server, start.open(server), start)


def expression_point(server: Server, expression: str) -> ProofPoint:
    """Open a goal whose target is an expression; what is no proposition is a RequestError."""
    state, levels = open_expression(server, expression)
    return _bare(server, state, Start(expression, levels))


def _bare(server: Server, state: GoalState, start: Start) -> ProofPoint:
    def finish(
        server: Server,
        tactics: tuple[str, ...],
        resume: int | None,  # noqa: ARG001 - nothing is traced
        timeout: float,
    ) -> ProofOutcome:
        source = goal_source(start.expression, start.levels)
        block = "\n".join([*start.intros, *(f"({tactic})" for tactic in tactics)])
        try:
            return check_declaration(server, source, source.with_proof(block), timeout=timeout)
        except LeanError as error:
            if server.pid is None:
                raise
            return ProofOutcome(False, str(error))

    found = state_digest(server, state)
    return ProofPoint(state, found, finish, hash((_answerer(server), start, found.goals)))


def _answerer(server: Server) -> Hashable:
    """Return a key of engines with the same answers: kind, modules, project."""
    return server.kind, tuple(server.imports), str(server.project_path)
