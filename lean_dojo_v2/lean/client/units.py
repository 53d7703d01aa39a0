"""Results of processing a text: its units (commands) with their tactics, and search targets."""

from collections.abc import Mapping
from typing import Any, Self

import attrs

from lean_dojo_v2.lean.client.records import GoalState, Session
from lean_dojo_v2.lean.messages import LeanMessage, Severity


@attrs.frozen
class TacticInvocation:
    """One tactic of a file with the goals before and after it, as Lean printed them.

    The ``used_constants`` are the full names of those that occur in it; ``start`` is its first byte
    in the file and ``end`` the byte after its last one, if the engine reports them.
    """

    before: str
    after: str
    tactic: str
    used_constants: list[str] = attrs.Factory(list)
    start: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, payload: Mapping[str, Any]) -> Self:
        """Read Pantograph's ``InvokedTactic``; a ``boundary`` is an extension of our engine."""
        start, end = payload.get("boundary") or (None, None)
        return cls(
            before=payload["goalBefore"],
            after=payload["goalAfter"],
            tactic=payload["tactic"],
            used_constants=list(payload.get("usedConstants", ())),
            start=start,
            end=end,
        )


@attrs.frozen
class CompilationUnit:
    """One command of a file.

    Attributes:
        i_begin: Its first byte.
        i_end: The byte after its last one.
        messages: Lean's messages about it.
        invocations: Its tactics, if requested.
        goal_state: The goals of its ``sorry``, if requested and there are any.
        goal_src_boundaries: Byte range of each such ``sorry``.
        new_constants: Names that it defines, if requested.
    """

    i_begin: int
    i_end: int
    messages: list[LeanMessage] = attrs.Factory(list)
    invocations: list[TacticInvocation] | None = None
    goal_state: GoalState | None = None
    goal_src_boundaries: list[tuple[int, int]] | None = None
    new_constants: list[str] | None = None

    @classmethod
    def parse(cls, payload: Mapping[str, Any], session: Session) -> Self:
        """Read Pantograph's ``CompilationUnit``; its tactics are in ``invocations``."""
        begin, end = payload["boundary"]
        tactics = payload.get("invocations")
        state: GoalState | None = None
        ranges: list[tuple[int, int]] | None = None
        if payload.get("goalStateId") is not None:
            state = GoalState.parse(int(payload["goalStateId"]), payload, session)
            ranges = [(int(a), int(b)) for a, b in payload.get("goalSrcBoundaries") or ()]
        return cls(
            i_begin=int(begin),
            i_end=int(end),
            messages=LeanMessage.parse_all(payload.get("messages")),
            invocations=None if tactics is None else [TacticInvocation.parse(i) for i in tactics],
            goal_state=state,
            goal_src_boundaries=ranges,
            new_constants=payload.get("newConstants"),
        )

    @property
    def errors(self) -> list[LeanMessage]:
        """The messages that are errors."""
        return [message for message in self.messages if message.severity is Severity.ERROR]


@attrs.frozen
class CheckTrackResult:
    """Whether a text proves what another one states.

    Lean's messages are about the statements (``src``) and the proofs (``dst``); ``failure`` is the
    difference, if any.
    """

    src_messages: list[LeanMessage]
    dst_messages: list[LeanMessage]
    failure: str | None = None

    @classmethod
    def parse(cls, payload: Mapping[str, Any]) -> Self:
        """Read the answer to ``frontend.track``."""
        return cls(
            LeanMessage.parse_all(payload["srcMessages"]),
            LeanMessage.parse_all(payload["dstMessages"]),
            payload.get("failure"),
        )

    @property
    def hasSrcError(self) -> bool:  # noqa: N802 - PyPantograph's name
        """Whether the statements have an error."""
        return any(message.severity is Severity.ERROR for message in self.src_messages)

    @property
    def hasDstError(self) -> bool:  # noqa: N802 - PyPantograph's name
        """Whether the proofs have an error."""
        return any(message.severity is Severity.ERROR for message in self.dst_messages)

    @property
    def succeeded(self) -> bool:
        """Whether neither text has an error and nothing differs."""
        return self.failure is None and not self.hasSrcError and not self.hasDstError

    @property
    def feedback(self) -> list[str]:
        """Feedback for the author of the proofs: Lean's messages, then the differences."""
        said = [str(message) for message in self.dst_messages]
        return said if self.failure is None else [*said, self.failure]


@attrs.frozen
class SearchTarget:
    """The open ``sorry``s of a text, as one goal state to work on."""

    goal_state: GoalState

    @classmethod
    def parse(cls, payload: Mapping[str, Any], session: Session) -> Self:
        """Read a target of the answer to ``frontend.distil``."""
        return cls(GoalState.parse(int(payload["stateId"]), payload, session))
