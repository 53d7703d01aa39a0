"""A point of a proof: the state there, how its proof goes on, and how to finish it otherwise."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

import attrs

from lean_dojo_core.errors import LeanError
from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.text.layout import rest_of_block
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.digests import digest
from lean_dojo_v2.lean.verify.goal_text import Start, open_goal, start_of
from lean_dojo_v2.lean.verify.opening import open_exact, open_expression
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import check_declaration, goal_source


class Finish(Protocol):
    """Checks a whole theorem in which a point's tactic is replaced."""

    def __call__(
        self, server: Server, tactics: tuple[str, ...], resume: int | None, timeout: float
    ) -> ProofOutcome:
        """Check it with ``tactics`` in the place of the point's own one.

        ``resume`` says from which of the traced block's tactics on the traced proof follows (0 is
        the point's own); ``None`` for none of them.
        """


@attrs.frozen
class ProofPoint:
    """A point of a proof, open in an engine.

    Attributes:
        state: The goals there.
        rest: How the traced proof goes on, longest first: all tactics of its block from here on,
            then without the first, and so on. Empty where the proof is not known.
        own: The traced proof's tactic here, alone.
        finish: Checks the whole theorem with other tactics from here on; ``None`` where there is
            no theorem around the state.
        said: What the goals say, as digests of this engine.
        key: Equal for equal points: what is found out about a state is kept under it.
        own_names: Names of the theorem, which no tactic may cite.
    """

    state: GoalState
    rest: tuple[str, ...] = ()
    own: str | None = None
    finish: Finish | None = attrs.field(default=None, repr=False)
    said: tuple[str, ...] = ()
    key: Hashable = None
    own_names: tuple[str, ...] = ()


def theorem_point(server: Server, source: SourceTheorem, position: Position) -> ProofPoint:
    """Open the point at which a theorem's own proof plays the tactic that starts at a position.

    Raises:
        LeanError: If there is no tactic at that place.
    """
    state = open_exact(server, source, position)
    text, end = source.text, source.offset(source.end)
    start = source.offset(position)
    block = rest_of_block(text, start, end)
    indent = " " * block.column
    rest = tuple(f"(\n{indent}{text[begin : block.end]}\n)" for begin in block.starts)
    first = text[start : [*block.starts, block.end][1]].rstrip().removesuffix(";")

    def finish(
        server: Server, tactics: tuple[str, ...], resume: int | None, timeout: float
    ) -> ProofOutcome:
        # Each on a line of its own, in the block's column: it may have blocks within.
        own = f"\n{indent}".join(f"({tactic})" for tactic in tactics)
        after = text[block.end : end]
        if resume is not None:
            after = f"\n{indent}{text[block.starts[resume] : end]}"
        declaration = text[source.offset(source.start) : start] + own + after
        return check_declaration(server, source, declaration, timeout=timeout)

    said = digest(server, state).goals
    place = (source.file_path, source.before, source.declaration, position)
    key = hash((_answerer(server), place, said))
    own = f"(\n{indent}{first}\n)"
    return ProofPoint(state, rest, own, finish, said, key, source.own_names)


def goal_point(server: Server, text: str) -> ProofPoint:
    """Open a goal from its text, of several the first one; see :func:`.goal_text.open_goal`.

    Raises:
        GoalTextError: If the text does not say enough.
    """
    state = open_goal(server, text, first_only=True)
    return _bare(server, state, start_of(text, first_only=True))


def expression_point(server: Server, expression: str) -> ProofPoint:
    """Open a goal whose target is an expression.

    Raises:
        RequestError: If it is no proposition that Lean can read.
    """
    state, levels = open_expression(server, expression)
    return _bare(server, state, Start(expression, levels, ()))


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

    said = digest(server, state).goals
    key = hash((_answerer(server), start, said))
    return ProofPoint(state, finish=finish, said=said, key=key)


def _answerer(server: Server) -> Hashable:
    """Say which engines give the same answers: the kind, the modules, the project."""
    return server.kind, tuple(server.imports), str(server.project_path)
