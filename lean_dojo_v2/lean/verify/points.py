"""A point of a proof: its state, the traced continuation, and alternative endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

import attrs

from lean_dojo_core.records import Position
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.digests import digest
from lean_dojo_v2.lean.verify.goal_text import Start, open_goal, start_of
from lean_dojo_v2.lean.verify.opening import open_expression, open_step
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import check_declaration, goal_source
from lean_dojo_v2.lean.verify.screening import cites

_FILLER = "skip;"


class Finish(Protocol):
    """Verifies a whole theorem with a point's tactic replaced."""

    def __call__(
        self, server: Server, tactics: tuple[str, ...], resume: int | None, timeout: float
    ) -> ProofOutcome:
        """Verify it with ``tactics`` in place of the point's own one.

        The traced proof follows from the tactic ``resume`` of its block (0 is the point's own);
        ``None``: not at all.
        """


@attrs.frozen
class Onward:
    """A continuation by the traced proof: tactics, then its own from ``resume`` on."""

    tactics: tuple[str, ...]
    resume: int | None


@attrs.frozen
class ProofPoint:
    """A point of a proof, open in an engine.

    Attributes:
        state: The goals there.
        rest: Ends of the traced proof, longest first: all tactics of its block from here on,
            then without the first, and so on. Empty for an unknown proof.
        own: The traced proof's tactic here, alone.
        after: Digests of the goals that it leaves; ``None`` if unknown.
        blocks: The proofs inside it, each as one tactic, by the digest of its first goal.
        finish: Checks the whole theorem with other tactics from here on; ``None`` without a
            theorem.
        said: Digests of the goals by this engine.
        each: Digests of each goal by itself.
        key: Cache key, equal for equal points.
        own_names: Names of the theorem, which no tactic may cite.
    """

    state: GoalState
    rest: tuple[str, ...] = ()
    own: str | None = None
    after: tuple[str, ...] | None = None
    blocks: Mapping[str, str] = attrs.field(factory=dict)
    finish: Finish | None = attrs.field(default=None, repr=False)
    said: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    key: Hashable = None
    own_names: tuple[str, ...] = ()

    def onward(self, goals: Sequence[str], after: Sequence[str]) -> Onward | None:
        """Return the traced proof's continuation from the goals that a step has left.

        Each must be a goal of the traced proof here: one that an inner block of its tactic proves
        (``have h : p := ?_`` leaves the goal of ``have h : p := by …``), or one that its tactic
        leaves, in order. The step must close an old goal or open a new one; reordering or
        duplicating goals does not count.

        Args:
            goals: Digests of the goals after the step.
            after: Digests of the goals after the traced proof's own tactic.
        """
        if set(goals) <= set(self.each) and Counter(self.each) <= Counter(goals):
            return None
        left = list(after)
        tactics: list[str] = []
        for goal in goals:
            if left and goal == left[0]:
                tactics.append("rotate_left")
                left.pop(0)
            elif goal in self.blocks:
                tactics.append(self.blocks[goal])
            else:
                return None
        if left:
            return None
        if set(tactics) == {"rotate_left"}:  # nothing else is open
            tactics = []
        return Onward(tuple(tactics), 1 if len(self.rest) > 1 else None)


def theorem_point(server: Server, source: SourceTheorem, position: Position) -> ProofPoint:
    """Open the point before the tactic at a position of a theorem's own proof.

    Raises:
        LeanError: If there is no tactic at that place.
    """
    opened = open_step(server, source, position)
    text, end = source.text, source.offset(source.end)
    starts = [start for start, _ in opened.members]
    (start, own_end), block_end = opened.members[0], opened.members[-1][1]
    line = "\n" + " " * opened.column

    def finish(
        server: Server, tactics: tuple[str, ...], resume: int | None, timeout: float
    ) -> ProofOutcome:
        # Each on its own line, in the block's column, since it may contain blocks.
        own = line.join(f"({tactic})" for tactic in tactics)
        after = text[block_end:end]
        if resume is not None:
            after = (
                "\n" + _aligned(text, starts[resume], opened.column) + text[starts[resume] : end]
            )
        declaration = text[source.offset(source.start) : start] + own + after
        return check_declaration(server, source, declaration, timeout=timeout)

    said = digest(server, opened.state)
    place = (source.file_path, source.before, source.declaration, position)
    return ProofPoint(
        opened.state,
        tuple(_alone(text, begin, block_end, opened.column) for begin in starts),
        _alone(text, start, own_end),
        opened.after,
        {b.goal: f"· {_alone(text, b.start, b.end)}" for b in opened.blocks if b.goal is not None},
        finish,
        said.goals,
        said.each,
        hash((_answerer(server), place, said.goals)),
        tuple(name for name in source.own_names if not cites(source.proof, name)),
    )


def _alone(text: str, start: int, end: int, column: int | None = None) -> str:
    """Return tactics of a file as one, in parentheses, at their columns.

    ``column`` is their block's, if it may begin before them on their line.
    """
    return f"(\n{_aligned(text, start, column)}{text[start:end]}\n)"


def _aligned(text: str, start: int, column: int | None = None) -> str:
    """Return the prefix that keeps a tactic at its column on a line of its own.

    A block continues at its column, so one cut in the middle of a line begins with a filler.
    """
    own = start - (text.rfind("\n", 0, start) + 1)
    if column is None or own <= column:
        return " " * own
    filler = _FILLER.ljust(own - column)
    return " " * column + (filler if len(filler) == own - column else "")


def goal_point(server: Server, text: str) -> ProofPoint:
    """Open the first goal of a text; see :func:`.goal_text.open_goal`.

    Raises:
        GoalTextError: If the text is not sufficient.
    """
    server.begin(server.home)
    state = open_goal(server, text, first_only=True)
    return _bare(server, state, start_of(text, first_only=True))


def expression_point(server: Server, expression: str) -> ProofPoint:
    """Open a goal whose target is an expression.

    Raises:
        RequestError: If Lean cannot read it as a proposition.
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
    """Return a key of engines with the same answers: kind, modules, project."""
    return server.kind, tuple(server.imports), str(server.project_path)
