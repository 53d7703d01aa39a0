"""Lean's messages, with their positions and severities."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Self

import attrs


class Severity(StrEnum):
    """Severity of a message."""

    INFORMATION = "information"
    WARNING = "warning"
    ERROR = "error"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read Lean's name of a severity (``info`` and ``information`` are the same).

        Raises:
            ValueError: If it is unknown; it must not pass for a harmless one.
        """
        return cls("information" if text == "info" else text)


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
class LeanMessage:
    """One message of Lean: its text ``data``, and where it starts and, if reported, ends.

    Its ``kind`` is Lean's tag, for example ``hasSorry``; ``None`` for an untagged message.
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

    @classmethod
    def parse_all(cls, payloads: Iterable[Mapping[str, Any]] | None) -> list[Self]:
        """Read several; empty if the answer has none."""
        return [cls.parse(payload) for payload in payloads or ()]

    def __str__(self) -> str:
        end = "" if self.pos_end is None else f"-{self.pos_end.line}:{self.pos_end.column}"
        prefix = "" if self.severity is Severity.INFORMATION else f"{self.severity}: "
        return f"{self.pos.line}:{self.pos.column}{end}: {prefix}{self.data}"
