"""Whole proofs, tactic by tactic: which ones hold, which one fails first, and what is left open."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.client.units import CompilationUnit, TacticInvocation
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.messages import LeanMessage, Position, Severity
from lean_dojo_v2.lean.text.helpers import join_helpers, split_helpers
from lean_dojo_v2.lean.text.positions import PositionMap
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome, ProofPart, ProofTrace
from lean_dojo_v2.lean.verify.proofs import PROOF_TIMEOUT, check_proof

_UNSOLVED = "unsolved goals"
"""The beginning of Lean's error about a block of tactics that ends too early."""
_SYNTAX_ERROR = re.compile(r"not a block of tactics: <input>:(\d+):\d+: ")
"""Where Lean's parser stopped in a proof that stands in parentheses, on lines of their own."""
_INDENT = 2
"""Columns by which the lines of a proof are indented in its declaration."""


class HasSource(Protocol):
    """A theorem in its file, such as what ``lean_dojo_v2.benchmarks.problem_of`` returns."""

    @property
    def source(self) -> SourceTheorem:
        """The theorem and the text of its file."""


def trace_proof(
    server: Server,
    problem: SourceTheorem | HasSource,
    proof: str,
    *,
    timeout: float = PROOF_TIMEOUT,
) -> ProofTrace:
    r"""Verify a proof in full, and say where it is right and wrong, from one elaboration.

    The text is hostile input: it is screened before Lean sees it, as in any verification. It is a
    block of tactics, what follows ``:= by``; indices are those of this text, with ``\n`` for
    ``\r\n``. The server has the theorem's repository as its project, if there is one. The
    ``timeout`` is in seconds, for each call of Lean.

    Raises:
        EngineLostError: The engine died or the time was up; the proof does not hold.
        LeanError: The statement does not elaborate.
    """
    source = problem if isinstance(problem, SourceTheorem) else problem.source
    proof = proof.replace("\r\n", "\n")
    answers: list[Mapping[str, Any]] = []
    outcome = check_proof(server, source, proof, timeout=timeout, hear=answers.append)
    if outcome.refusal is not None:
        return ProofTrace(outcome)
    if not answers:
        return ProofTrace(outcome, failing=_syntax_error(proof, outcome.detail))
    return _trace(outcome, _Declaration(source, proof), answers[-1])


def _block_of(proof: str) -> tuple[int, list[tuple[int, str]]]:
    """Return the size of the helpers' text, and the lines of the block with their indices."""
    helpers, block = split_helpers(proof)
    at = 0
    for helper in helpers:
        at = proof.index(helper, at) + len(helper)
    lines = []
    for line in block.strip("\n").split("\n"):
        at = proof.index(line, at)
        lines.append((at, line))
        at += len(line)
    return len(join_helpers(helpers)), lines


class _Declaration:
    """A file up to a declaration with a proof, and the places of the proof's characters in it."""

    def __init__(self, source: SourceTheorem, proof: str) -> None:
        helpers, self._lines = _block_of(proof)
        self._places = PositionMap(source.before + source.with_proof(proof))
        self._begin = len(source.before)
        self._statement = self._begin + helpers
        self._start = self._statement + len(source.head) + len(" := by\n")

    def at_byte(self, offset: int) -> int | None:
        """Return the index in the proof of a byte of the file; ``None`` before the block."""
        return self._in_proof(self._places.index_of_byte(offset))

    def at(self, position: Position) -> int | None:
        """Return the index in the proof of a message's position; ``None`` before the block."""
        return self._in_proof(self._index(position))

    def holds(self, position: Position) -> bool:
        """Whether a message is about the declaration, not about the file before it."""
        return self._index(position) >= self._begin

    def in_statement(self, position: Position) -> bool:
        """Whether a message is about the statement, or about the block as a whole."""
        return self._statement <= self._index(position) < self._start

    def _index(self, position: Position) -> int:
        return self._places.index(position.line, position.column)

    def _in_proof(self, index: int) -> int | None:
        if index < self._start:
            return None
        line, column = self._places.position(index)
        first, _ = self._places.position(self._start)
        place, text = self._lines[line - first]
        return place + min(max(column - 1 - _INDENT, 0), len(text))


def _trace(
    outcome: ProofOutcome, declaration: _Declaration, answer: Mapping[str, Any]
) -> ProofTrace:
    ran, others = _tactics(declaration, answer["tactics"])
    found = LeanMessage.parse_all(answer["messages"])
    errors = [
        message
        for message in found
        if message.severity is Severity.ERROR and declaration.holds(message.pos)
    ]
    inside = [
        (place, message.data.startswith(_UNSOLVED))
        for message in errors
        if (place := declaration.at(message.pos)) is not None
    ]
    if not inside:
        if outcome.valid:
            return ProofTrace(outcome, sound=tuple(ran))
        goals_left = bool(errors) and all(
            declaration.in_statement(message.pos) and message.data.startswith(_UNSOLVED)
            for message in errors
        )
        return ProofTrace(outcome, sound=tuple(ran) if goals_left else (), goals_left=goals_left)
    first, unfinished = min(inside)
    holding = [one for one in (*ran, *others) if one.start <= first < one.end]
    failing = min(
        holding, key=lambda one: one.end - one.start, default=ProofPart(first, first, changes=False)
    )
    sound = [
        one
        for one in ran
        # A block that ends too early is what fails; the tactics inside it hold.
        if one.end <= failing.start
        or (unfinished and failing.start <= one.start and one.end <= failing.end and one != failing)
    ]
    return ProofTrace(outcome, tuple(sound), failing)


def _tactics(
    declaration: _Declaration, found: Sequence[Mapping[str, Any]]
) -> tuple[list[ProofPart], list[ProofPart]]:
    """Return the tactics of the proof in the order of the text: those that ran, and the others."""
    ran: dict[tuple[int, int], ProofPart] = {}
    others: dict[tuple[int, int], ProofPart] = {}
    for one in found:
        start, end = (declaration.at_byte(offset) for offset in one["bytes"])
        if start is not None and end is not None and start < end:  # else it is another's
            kept = ran if one["ran"] else others
            kept[start, end] = ProofPart(start, end, bool(one["changed"]))
    return [ran[place] for place in sorted(ran)], [others[place] for place in sorted(others)]


def _syntax_error(proof: str, detail: str) -> ProofPart | None:
    """Return the line of a proof's block at which Lean's parser stopped."""
    place = _SYNTAX_ERROR.match(detail)
    if place is None or not proof.strip():
        return None
    _, lines = _block_of(proof)
    number = min(max(int(place[1]) - 2, 0), len(lines) - 1)  # after the opening bracket
    start, line = lines[number]
    return ProofPart(start + len(line) - len(line.lstrip()), start + len(line.rstrip()), False)


def process_after(
    server: Server,
    header: str,
    text: str,
    *,
    invocations: bool = False,
    timeout: float | None = None,
) -> list[CompilationUnit]:
    """Elaborate a text in the scope of a header: what it imports, opens, declares and names.

    (``Server.load_header`` keeps a header's environment, but not its ``open``, ``namespace`` and
    ``variable``.) The text is trusted: screen a model's completion, or use :func:`trace_proof`.
    There is one record for each command of the text, with places in the text alone and, if
    ``invocations``, with every tactic. The ``timeout`` is in seconds.

    Raises:
        RequestError: The header has an error, or the text cannot be read.
        EngineLostError: The engine died or the time was up.
    """
    if header and not header.endswith("\n"):
        header += "\n"
    units = server.process(
        header + text, read_header=True, invocations=invocations, timeout=timeout
    )
    size, lines = len(header.encode()), header.count("\n")
    before = [error for unit in units if unit.i_end <= size for error in unit.errors]
    if before:
        raise RequestError(f"The header has an error: {before[0]}", "elab")
    return [_moved(unit, size, lines) for unit in units if unit.i_end > size]


def _moved(unit: CompilationUnit, size: int, lines: int) -> CompilationUnit:
    """Return a unit as if the text began after a header of ``size`` bytes and some lines."""

    def place(position: Position) -> Position:
        return Position(position.line - lines, position.column)

    def message(one: LeanMessage) -> LeanMessage:
        return attrs.evolve(one, pos=place(one.pos), pos_end=one.pos_end and place(one.pos_end))

    def invocation(one: TacticInvocation) -> TacticInvocation:
        if one.start is None or one.end is None:
            return one
        return attrs.evolve(one, start=one.start - size, end=one.end - size)

    return attrs.evolve(
        unit,
        i_begin=max(0, unit.i_begin - size),
        i_end=unit.i_end - size,
        messages=list(map(message, unit.messages)),
        invocations=unit.invocations and list(map(invocation, unit.invocations)),
    )
