"""What Lean says about a text: messages, and the units (commands) of a file with their tactics."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

import attrs

from lean_dojo_v2.lean.records import GoalState, Session


class Severity(Enum):
    """How bad a message is."""

    INFORMATION = "information"
    WARNING = "warning"
    ERROR = "error"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def parse(cls, text: str) -> Severity:
        """Read Lean's word for a severity (``info`` and ``information`` are the same).

        Raises:
            ValueError: If Lean has invented a new one; it must not pass for a harmless one.
        """
        return cls.INFORMATION if text == "info" else cls(text)


@attrs.frozen
class Position:
    """A place in a file: ``line`` is 1-based, ``column`` 0-based and counts code points."""

    line: int
    column: int

    @classmethod
    def parse(cls, payload: Mapping[str, Any]) -> Self:
        """Read Lean's JSON form."""
        return cls(line=int(payload["line"]), column=int(payload["column"]))


@attrs.frozen
class Message:
    """One message of Lean.

    Attributes:
        data: Its text.
        pos: Where it starts.
        pos_end: Where it ends, if Lean says so.
        severity: How bad it is.
        kind: Lean's tag, for example ``hasSorry``; ``None`` for an untagged message.
    """

    data: str
    pos: Position
    pos_end: Position | None = None
    severity: Severity = Severity.ERROR
    kind: str | None = None

    @classmethod
    def parse(cls, payload: Mapping[str, Any]) -> Self:
        """Read Lean's ``SerialMessage``."""
        end = payload.get("endPos")
        kind = payload.get("kind")
        return cls(
            data=payload["data"],
            pos=Position.parse(payload["pos"]),
            pos_end=None if end is None else Position.parse(end),
            severity=Severity.parse(payload["severity"]),
            kind=None if kind in {None, "", "[anonymous]"} else kind,
        )

    def __str__(self) -> str:
        end = "" if self.pos_end is None else f"-{self.pos_end.line}:{self.pos_end.column}"
        prefix = "" if self.severity is Severity.INFORMATION else f"{self.severity}: "
        return f"{self.pos.line}:{self.pos.column}{end}: {prefix}{self.data}"


@attrs.frozen
class TacticInvocation:
    """One tactic of a file with the goals before and after it, as Lean printed them.

    Attributes:
        before: The goals before it.
        after: The goals after it.
        tactic: Its text.
        used_constants: Full names of the constants that occur in it.
        start: First byte of the tactic in the file, where the engine says so.
        end: Byte after its last one, where the engine says so.
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
        messages: What Lean said about it.
        invocations: Its tactics, if they were asked for.
        goal_state: The goals of its ``sorry``, if they were asked for and there are any.
        goal_src_boundaries: Byte range of each such ``sorry``.
        new_constants: Names that it defines, if they were asked for.
    """

    i_begin: int
    i_end: int
    messages: list[Message] = attrs.Factory(list)
    invocations: list[TacticInvocation] | None = None
    goal_state: GoalState | None = None
    goal_src_boundaries: list[tuple[int, int]] | None = None
    new_constants: list[str] | None = None

    @classmethod
    def parse(
        cls,
        payload: Mapping[str, Any],
        session: Session | None = None,
        invocations: list[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Read Pantograph's ``CompilationUnit``."""
        begin, end = payload["boundary"]
        state: GoalState | None = None
        ranges: list[tuple[int, int]] | None = None
        if session is not None and payload.get("goalStateId") is not None:
            state = GoalState.parse(int(payload["goalStateId"]), payload["goals"], session)
            ranges = [(int(a), int(b)) for a, b in payload.get("goalSrcBoundaries") or ()]
        return cls(
            i_begin=int(begin),
            i_end=int(end),
            messages=[Message.parse(message) for message in payload.get("messages") or ()],
            invocations=(
                None if invocations is None else [TacticInvocation.parse(i) for i in invocations]
            ),
            goal_state=state,
            goal_src_boundaries=ranges,
            new_constants=payload.get("newConstants"),
        )

    @property
    def errors(self) -> list[Message]:
        """The messages that are errors."""
        return [message for message in self.messages if message.severity is Severity.ERROR]


@attrs.frozen
class CheckTrackResult:
    """Whether a text proves what another one states.

    Attributes:
        src_messages: What Lean said about the statements.
        dst_messages: What Lean said about the proofs.
        failure: Why not; ``None`` if it does.
    """

    src_messages: list[Message]
    dst_messages: list[Message]
    failure: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether it does."""
        return self.failure is None


@attrs.frozen
class SearchTarget:
    """The open ``sorry``s of a text, as one goal state to work on."""

    goal_state: GoalState
