"""Read what ``lean -D trace.Elab.info=true --json FILE`` prints.

Lean prints one JSON message a line. With the option, each command also gives a message with its
info tree as indented text; its nodes start with ``•``::

    [Elab.info]
      • [Command] @ ⟨2, 0⟩-⟨5, 34⟩ @ Lean.Elab.Command.elabDeclaration
        • [Tactic] @ ⟨3, 2⟩-⟨3, 13⟩ @ Lean.Elab.Tactic.evalConstructor
          (Tactic.constructor "constructor")
          before ⏎ p q : Prop ⏎ ⊢ p ∧ q
          after no goals

(before 4.22 without brackets: ``command @ …``, ``Tactic @ …``). Positions are (line, column) with
lines from 1 and columns from 0 in code points; ``†`` marks what a macro made. Indentation gives the
tree, so a tactic is a member of a sequence if its parent is one.

Lean wraps the text at 120 characters, indentation included; a hypothesis that is so long is wrapped
a little earlier here than in the goals that the embedded engine and LeanDojo print.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lean_dojo_core.errors import TraceError
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.tracing.reading.records import Diagnostic, ElaboratedTactic, TracedCommand

_NODE = re.compile(r"^( *)• (.*)$")
_PLACE = r"⟨(\d+), (\d+)⟩(†?)!?"
_RANGE = re.compile(rf"@ {_PLACE}-{_PLACE}(?: @ (\S+))?")
_KIND = re.compile(r"\[?(Tactic|Command|command)\]? @ ")
_SEQUENCES = ("evalTacticSeq1Indented", "evalTacticSeqBracketed")
_BARE = ("evalTacticSeq", "evalTacticSeq1Indented")
_TRACE = "[Elab.info]"


class InfoNode(NamedTuple):
    """A ``tactic`` or ``command`` of an info tree; places are Lean's (line, column).

    Attributes:
        depth: Columns that it is indented by.
        original: Whether it stands in the source, not in a macro's result.
        elaborator: Lean's function that ran it; may be empty.
        lines: Its text, without indentation.
    """

    kind: str
    depth: int
    start: tuple[int, int]
    end: tuple[int, int]
    original: bool
    elaborator: str
    lines: Sequence[str]

    @property
    def is_sequence(self) -> bool:
        """Whether it is a tactic sequence, of the source or of a macro."""
        return self.elaborator.endswith(_SEQUENCES)

    @property
    def is_step(self) -> bool:
        """Whether it is a tactic of the source; a sequence is one where it has braces."""
        return self.kind == "tactic" and self.original and not self.elaborator.endswith(_BARE)


def read_messages(output: str) -> list[dict[str, Any]]:
    """Read Lean's JSON lines; other lines (Lake's) are passed over.

    Raises:
        TraceError: If a line starts as JSON and is none.
    """
    messages: list[dict[str, Any]] = []
    for number, line in enumerate(output.splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            raise TraceError(f"line {number} of Lean's output is not JSON: {error}") from None
        if "severity" in message and "data" in message:
            messages.append(message)
    return messages


def is_info_tree(message: dict[str, Any]) -> bool:
    """Whether a message is an info tree."""
    return str(message["data"]).lstrip().startswith(_TRACE)


def nodes(text: str) -> Iterator[InfoNode]:
    """Yield the tactics and commands of one message, in the order of the text."""
    lines = text.split("\n")
    starts = [(i, match) for i, line in enumerate(lines) if (match := _NODE.match(line))]
    for (index, match), stop in zip(starts, [*(i for i, _ in starts[1:]), len(lines)], strict=True):
        kind = _KIND.match(match[2])
        place = _RANGE.search(match[2]) if kind else None
        if kind is None or place is None:
            continue
        depth = len(match[1])
        numbers = [int(place[i]) for i in (1, 2, 4, 5)]
        yield InfoNode(
            kind[1].lower(),
            depth,
            (numbers[0], numbers[1]),
            (numbers[2], numbers[3]),
            not place[3] and not place[6],
            place[7] or "",
            [line[depth + 2 :] for line in lines[index + 1 : stop]],
        )


def read_trees(
    messages: Iterable[dict[str, Any]], places: PositionMap
) -> tuple[list[TracedCommand], list[ElaboratedTactic]]:
    """Return the commands of a file and the members of its tactic sequences."""
    commands: list[TracedCommand] = []
    steps: list[ElaboratedTactic] = []
    for message in messages:
        parents: list[InfoNode] = []
        for node in nodes(str(message["data"])):
            while parents and parents[-1].depth >= node.depth:
                parents.pop()
            start, end = places.index(*node.start), places.index(*node.end)
            if node.kind == "command" and not parents and node.original and start < end:
                commands.append(TracedCommand(start, end))
            elif node.is_step and parents and parents[-1].is_sequence:
                before, after = _goals(node.lines)
                steps.append(ElaboratedTactic(start, end, before, after))
            parents.append(node)
    return commands, steps


def _goals(lines: Sequence[str]) -> tuple[str, str]:
    """Cut the goals before and after out of a tactic's text.

    The syntax comes first and its strings may hold any line; ``before`` is therefore the last line
    of that shape that an ``after`` follows.
    """
    after = max((i for i, line in enumerate(lines) if _starts(line, "after")), default=-1)
    before = max((i for i in range(after) if _starts(lines[i], "before")), default=-1)
    if before < 0:
        return "", ""
    first, second = "\n".join(lines[before:after]), "\n".join(lines[after:])
    first, second = first.removeprefix("before"), second.removeprefix("after")
    return first.removeprefix(" "), second.removeprefix(" ")


def _starts(line: str, word: str) -> bool:
    return line in {word, f"{word} ", f"{word} no goals"}


def read_problems(messages: Iterable[dict[str, Any]], places: PositionMap) -> list[Diagnostic]:
    """Return the messages that are no info trees."""
    problems: list[Diagnostic] = []
    for message in messages:
        start = message["pos"]
        end = message.get("endPos") or start
        problems.append(
            Diagnostic(
                str(message["data"]),
                places.index(start["line"], start["column"]),
                places.index(end["line"], end["column"]),
                "information" if message["severity"] == "info" else str(message["severity"]),
                str(message.get("kind") or "").removeprefix("[anonymous]"),
            )
        )
    return problems
