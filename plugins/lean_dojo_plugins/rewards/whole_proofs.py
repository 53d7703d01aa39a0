"""The theorem of a dataset row, and judgements of its whole proofs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.records import BenchmarkProblem, Position
from lean_dojo_plugins.rewards.replay import checkout, position_of
from lean_dojo_v2.benchmarks import problem_of
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, EngineUnavailableError, LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome, TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.proofs import check_proof
from lean_dojo_v2.prover.completions import proof_of

_POSITION = re.compile(r"^(\d+):\d+(?:-\d+:\d+)?: error: |<input>:(\d+):\d+: ")
"""Where an error stands: in the file, or in the proof that was parsed alone."""


@attrs.frozen
class TheoremSpec:
    """A theorem to prove; equal specs are the same theorem.

    Attributes:
        full_name: The theorem's name.
        statement: Source text of the declaration up to and with ``:=``.
        project: Folder of the Lean project that it needs; ``None`` for Lean alone.
        before: Text before it in a file of its own: imports, ``open``, definitions.
        place: File, start and end (``None`` if unknown) of a theorem of the project; ``None`` for
            one with ``before``.
    """

    full_name: str
    statement: str
    project: Path | None = None
    before: str = ""
    place: tuple[str, Position | None, Position | None] | None = None

    @property
    def goal(self) -> str:
        """Its name in messages."""
        return self.full_name

    @property
    def header(self) -> str:
        """Requests with equal headers share what an engine has elaborated."""
        return self.before if self.place is None else f"{self.project}/{self.place[0]}"

    @property
    def owner(self) -> str | None:
        """Its repository; a statement of a set has no owner."""
        return None if self.place is None else str(self.project)

    def source(self) -> SourceTheorem:
        """Return the theorem in its file, or in one of its own.

        Raises:
            LeanError: If its file cannot be read, or its position is unknown.
        """
        if self.place is None:
            problem = BenchmarkProblem(
                full_name=self.full_name, statement=self.statement, header=self.before
            )
            return problem_of(problem).source
        file, start, end = self.place
        if start is None or end is None:
            raise LeanError(
                f"the position of {self.full_name} in {file} is unknown: the columns 'start' and "
                "'end' are missing; the formatter 'whole-proof' gives them"
            )
        if self.project is None:
            raise LeanError(f"the repository of {self.full_name} is not available")
        try:
            text = read_source(self.project / file)
        except (OSError, UnicodeDecodeError) as error:
            raise LeanError(f"{file} cannot be read: {error}") from error
        return SourceTheorem(text, self.full_name, file, start, end, self.statement or None)


def theorem_of(row: Mapping[str, Any], projects: Mapping[str, Path]) -> TheoremSpec:
    """Read the theorem of a dataset row, as the formatter ``whole-proof`` writes it.

    Args:
        row: ``full_name`` and ``problem`` (the statement); ``header`` and ``project`` for a theorem
            with a text of its own, or ``url``, ``commit``, ``file_path``, ``start`` and ``end``.
        projects: Folders of repositories by their address.
    """
    name, statement = str(row.get("full_name") or ""), str(row["problem"])
    if row.get("file_path") is None:
        project = row.get("project")
        folder = Path(str(project)) if project else None
        return TheoremSpec(name, statement, folder, str(row.get("header") or ""))
    start, end = (position_of(row.get(key)) for key in ("start", "end"))
    url, commit = str(row.get("url")), str(row.get("commit"))
    folder = projects.get(url) or checkout(url, commit)
    return TheoremSpec(name, statement, folder, place=(str(row["file_path"]), start, end))


def judge_proofs(
    server: Server, spec: TheoremSpec, completions: tuple[str, ...], timeout: float
) -> list[TacticOutcome]:
    """Verify several proofs of one theorem in full; Lean has ``timeout`` seconds for each."""
    try:
        source = spec.source()
        _ = source.head  # raises if there is none
    except LeanError as error:
        return [TacticOutcome(Verdict.UNOPENED, detail=str(error))] * len(completions)
    return [_judge_proof(server, source, text, timeout) for text in completions]


def _judge_proof(
    server: Server, source: SourceTheorem, completion: str, timeout: float
) -> TacticOutcome:
    proof = proof_of(completion, source.full_name)
    if not proof.strip():
        return TacticOutcome(Verdict.UNPARSED, detail="the completion contains no proof")
    for again in (True, False):
        try:
            return _judgement(source, proof, check_proof(server, source, proof, timeout=timeout))
        except EngineLostError as error:
            if not again:
                return TacticOutcome(Verdict.TIMED_OUT, detail=str(error))
        except EngineUnavailableError:
            raise
        except LeanError as error:
            return TacticOutcome(Verdict.UNOPENED, detail=str(error))
    raise AssertionError  # both tries return or raise


def _judgement(source: SourceTheorem, proof: str, outcome: ProofOutcome) -> TacticOutcome:
    if outcome.valid:
        return TacticOutcome(Verdict.SOLVED, progress=1.0)
    if outcome.refusal is not None:
        return TacticOutcome(Verdict.REFUSED, detail=outcome.detail, refusal=outcome.refusal)
    lines = proof.strip("\n").split("\n")
    if outcome.error_line is None:
        return TacticOutcome(Verdict.UNPARSED, detail=_located(outcome.detail, lines, 2))
    first = source.before.count("\n") + source.head.count("\n") + 2  # that of the proof
    detail = _located(outcome.detail, lines, first)
    held = min(max(outcome.error_line - first, 0), len(lines))
    return TacticOutcome(Verdict.FAILED, detail=detail, progress=held / len(lines))


def _located(detail: str, lines: Sequence[str], first: int) -> str:
    """Return an error that quotes its line of the proof, since the file's positions are not known.

    Args:
        detail: The error, with its position in the text that Lean read.
        lines: The proof's lines.
        first: The number there of the first of them.
    """
    place = _POSITION.search(detail)
    if place is None:
        return detail
    index = int(place[1] or place[2]) - first
    where = "" if index < 0 else "at its end: "
    if 0 <= index < len(lines):
        where = f"at `{lines[index].strip()}`: "
    return f"{detail[: place.start()]}{where}{detail[place.end() :]}"
