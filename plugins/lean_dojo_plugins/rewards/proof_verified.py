"""The reward of whole proofs: Lean's full verification."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.records import BenchmarkProblem, Position
from lean_dojo_plugins.rewards.lean_reward import (
    LeanReward,
    Question,
    Spec,
    checkout,
    position_of,
)
from lean_dojo_v2.benchmarks import problem_of
from lean_dojo_v2.fields import is_number, must_be, setting
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, EngineUnavailableError, LeanError
from lean_dojo_v2.lean.text.source import SourceTheorem, read_source
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome, TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.proofs import check_proof
from lean_dojo_v2.prover.completions import proof_of

_POSITION = re.compile(r"^(\d+):\d+(?:-\d+:\d+)?: error: |<input>:(\d+):\d+: ")
"""Where an error stands: in the file, or in the proof that was parsed alone."""


@attrs.frozen
class TheoremSpec(Spec):
    """A theorem to prove; its goal is its name.

    Attributes:
        statement: Source text of the declaration up to and with ``:=``.
        place: File, start and end (``None`` if unknown) of a theorem of the project; ``None`` for
            one in a file of its own, whose header is the text before it.
    """

    statement: str
    place: tuple[str, Position | None, Position | None] | None = None

    def source(self) -> SourceTheorem:
        """Return the theorem in its file, or in one of its own.

        Raises:
            LeanError: If its file cannot be read, or its position is unknown.
        """
        if self.place is None:
            problem = BenchmarkProblem(
                full_name=self.goal, statement=self.statement, header=self.header or ""
            )
            return problem_of(problem).source
        file, start, end = self.place
        if start is None or end is None:
            raise LeanError(
                f"the position of {self.goal} in {file} is unknown: the columns 'start' and "
                "'end' are missing; the formatter 'whole-proof' gives them"
            )
        if self.project is None:
            raise LeanError(f"the repository of {self.goal} is not available")
        try:
            text = read_source(self.project / file)
        except (OSError, UnicodeDecodeError) as error:
            raise LeanError(f"{file} cannot be read: {error}") from error
        return SourceTheorem(text, self.goal, file, start, end, self.statement or None)


def theorem_of(row: Mapping[str, Any], projects: Mapping[str, Path]) -> TheoremSpec:
    """Read the theorem of a dataset row, as the formatter ``whole-proof`` writes it.

    It has ``full_name`` and ``problem`` (the statement); ``header`` and ``project`` for a theorem
    with a text of its own, or ``url``, ``commit``, ``file_path``, ``start`` and ``end``.
    """
    name, statement = str(row.get("full_name") or ""), str(row["problem"])
    if row.get("file_path") is None:
        project = row.get("project")
        folder = Path(str(project)) if project else None
        header = str(row.get("header") or "")
        return TheoremSpec(goal=name, statement=statement, project=folder, header=header)
    start, end = (position_of(row.get(key)) for key in ("start", "end"))
    url, commit = str(row.get("url")), str(row.get("commit"))
    folder = projects.get(url) or checkout(url, commit)
    file = str(row["file_path"])
    return TheoremSpec(
        goal=name,
        statement=statement,
        project=folder,
        header=f"{folder}/{file}",
        owner=str(folder),
        place=(file, start, end),
    )


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


SHOWN = 500
"""Characters of an error shown to a model."""
AGAIN = "Write the whole proof again."


@attrs.define(eq=False, slots=False)
class ProofVerified(LeanReward):
    """1 for a completion whose proof passes full verification, else 0.

    A completion may hold the tactic block alone, the theorem with its proof, or text with fenced
    code, of which the last proof of the theorem counts; nothing inside ``<think>`` does. The
    theorem is elaborated again in its file's context, without itself in scope: an error, ``sorry``,
    a new axiom or a changed statement earns 0, and the reason is logged. A theorem that cannot be
    opened scores ``None``: the reward does not apply.

    With ``dense``, a proof that fails earns ``dense`` times the share of its lines that come before
    Lean's first error ("first failing tactic", arXiv:2606.20068); cheating earns nothing.

    Equal proofs of a theorem are verified once.
    """

    dense: float = setting(
        0.0,
        "Most that a failing proof may earn, by where its first error stands.",
        must_be("a number of at least 0 and less than 1", lambda v: is_number(v) and 0 <= v < 1),
    )
    name = "proof-verified"
    wanted = "a block of tactics"
    needs = ("problem", "full_name")
    formatter = "whole-proof"
    judge = staticmethod(judge_proofs)

    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        return theorem_of(row, self.projects), text

    def feedback(self, completions: Sequence[Any], **columns: Any) -> list[str | None]:
        """Return the feedback on each completion, for another turn of the model.

        That is Lean's first error, or the reason of a refusal; ``None`` if the proof holds or its
        theorem cannot be opened.
        """
        return [
            None
            if judgement.verdict in {Verdict.UNOPENED, Verdict.SOLVED}
            else f"Lean does not accept this proof:\n{judgement.detail[:SHOWN]}\n{AGAIN}"
            for judgement in self.judgements(completions, **columns)
        ]

    def score(self, judgement: TacticOutcome) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is Verdict.UNOPENED:
            return None
        return 1.0 if judgement.verdict is Verdict.SOLVED else self.dense * judgement.progress
