"""The reward of whole proofs: Lean's full verification."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from lean_dojo_core import Span
from lean_dojo_plugins.rewards.lean_reward import LeanReward, Question, a_number
from lean_dojo_plugins.rewards.rows import RowTheorem, theorem_of_row
from lean_dojo_v2 import lean
from lean_dojo_v2.prover import again_if_lost, proof_of
from lean_dojo_v2.settings import fields, setting

_AS_TERM = re.compile(r"exact\s+")
"""What stands before a proof that was a term."""
_POSITION = re.compile(r"^(\d+):\d+(?:-\d+:\d+)?: error: |<input>:(\d+):\d+: ")
"""Where an error stands: in the file, or in the proof that was parsed alone."""


def judge_proofs(
    server: lean.Server, task: RowTheorem, completions: tuple[str, ...], timeout: float
) -> list[lean.TacticOutcome]:
    """Verify several proofs of one theorem in full; Lean has ``timeout`` seconds for each."""
    try:
        source = task.source
        _ = source.head  # raises if there is none
    except lean.LeanError as error:
        return [lean.TacticOutcome(lean.Verdict.UNOPENED, detail=str(error))] * len(completions)
    return [_judge_proof(server, source, text, timeout) for text in completions]


def _judge_proof(
    server: lean.Server, source: lean.SourceTheorem, completion: str, timeout: float
) -> lean.TacticOutcome:
    proof = proof_of(completion, source.full_name)
    if not proof.strip():
        return lean.TacticOutcome(lean.Verdict.UNPARSED, detail="the completion contains no proof")
    try:
        trace = again_if_lost(lambda: lean.trace_proof(server, source, proof, timeout=timeout))
    except lean.EngineLostError as error:
        return lean.TacticOutcome(lean.Verdict.TIMED_OUT, detail=str(error))
    except lean.EngineUnavailableError:
        raise
    except lean.LeanError as error:
        return lean.TacticOutcome(lean.Verdict.UNOPENED, detail=str(error))
    return _judgement(source, proof, trace)


def _judgement(
    source: lean.SourceTheorem, proof: str, trace: lean.ProofTrace
) -> lean.TacticOutcome:
    outcome = trace.outcome
    if outcome.valid:
        return lean.TacticOutcome(lean.Verdict.SOLVED, progress=1.0, trace=trace)
    if outcome.refusal is not None:
        return lean.TacticOutcome(
            lean.Verdict.REFUSED, detail=outcome.detail, refusal=outcome.refusal
        )
    helpers, block = lean.split_helpers(proof)
    lines = block.strip("\n").split("\n")
    if outcome.error_line is None:
        detail = _located(outcome.detail, lines, 2)
        return lean.TacticOutcome(lean.Verdict.UNPARSED, detail=detail, trace=trace)
    text = f"{source.before}{lean.join_helpers(helpers)}{source.head}"
    first = text.count("\n") + 2  # that of the proof
    detail = _located(outcome.detail, lines, first)
    idle, shift = _idle_lines(proof, trace), proof.rstrip("\n").count("\n") + 1 - len(lines)
    counted = [number for number in range(len(lines)) if number + shift not in idle]
    # Of a proof that leaves goals all lines hold, and at least one is missing.
    held = sum(trace.goals_left or number < outcome.error_line - first for number in counted)
    progress = held / max(len(counted) + trace.goals_left, 1)
    return lean.TacticOutcome(lean.Verdict.FAILED, detail=detail, progress=progress, trace=trace)


def _idle_lines(proof: str, trace: lean.ProofTrace) -> set[int]:
    """Return the numbers of lines without code, or with tactics that change nothing: padding."""
    tactics: dict[bool, set[int]] = {True: set(), False: set()}
    for part in trace.sound:
        tactics[part.changes].add(proof.count("\n", 0, part.start))
    code = {proof.count("\n", 0, token.start) for token in lean.code_tokens(proof)}
    return set(range(proof.count("\n") + 1)) - code | tactics[False] - tactics[True]


def _located(detail: str, lines: Sequence[str], first: int) -> str:
    """Return an error that quotes its line of the proof, since the file's positions are not known.

    ``first`` is the number of the proof's first line in the text that Lean read.
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
    code, of which the last proof of the theorem counts; nothing inside ``<think>`` does. Lemmas and
    definitions may come before the theorem, and alternatives or ``where`` be part of its proof. The
    theorem is elaborated again in its file's context, without itself in scope: an error, ``sorry``,
    a new axiom or a changed statement earns 0, and the reason is logged. A theorem that cannot be
    opened scores ``None``: the reward does not apply.

    With ``dense``, a proof that fails earns ``dense`` times the share of its lines that come before
    Lean's first error ("first failing tactic", arXiv:2606.20068); one whose lines all hold and
    which leaves goals counts as lacking one line. Cheating earns nothing.

    It also says where (:class:`lean_dojo_core.Locates`), for ``process_weight`` of ``grpo``: spans
    of ``sound`` tactics, of ``idle`` ones, which change no goal, of the first ``failing`` one, of
    what is ``following`` it, and ``unfinished``, the end of a proof that leaves goals.

    Equal proofs of a theorem are verified once.
    """

    dense: float = setting(
        0.0,
        "Most that a failing proof may earn, by where its first error stands.",
        fields.must_be(
            "a number of at least 0 and less than 1", lambda v: fields.is_number(v) and 0 <= v < 1
        ),
    )
    sound: float = setting(1.0, "Value of a tactic that holds and changes goals.", a_number)
    failing: float = setting(
        -1.0, "Value of the first tactic that fails, or of an end that leaves goals.", a_number
    )
    following: float = setting(0.0, "Value of what follows the first failing tactic.", a_number)

    name = "proof-verified"
    wanted = "a block of tactics"
    needs = ("problem", "full_name")
    formatter = "whole-proof"
    judge = staticmethod(judge_proofs)

    def _question(self, row: Mapping[str, Any], text: str) -> Question:
        return theorem_of_row(row, self.projects), text

    def feedback(self, completions: Sequence[Any], **columns: Any) -> list[str | None]:
        """Return the feedback on each completion, for another turn of the model.

        That is Lean's first error, or the reason of a refusal; ``None`` if the proof holds or its
        theorem cannot be opened.
        """
        return [
            None
            if judgement.verdict in {lean.Verdict.UNOPENED, lean.Verdict.SOLVED}
            else f"Lean does not accept this proof:\n{judgement.detail[:SHOWN]}\n{AGAIN}"
            for judgement in self.judgements(completions, **columns)
        ]

    def spans(self, completions: Sequence[Any], **columns: Any) -> list[tuple[Span, ...] | None]:
        """Return where each completion is right and wrong, from what was found for its reward.

        ``None`` where nothing is known: the theorem cannot be opened, the text cheats, took too
        long, or is laid out so differently from its proof that it is not found in it (lemmas stated
        before it). Of a proof that is a term the whole term holds or fails.
        """
        questions = self._questions(completions, columns)
        return [
            None
            if judgement.trace is None
            else self._spans_of(text, proof_of(text, task.goal), judgement.trace)
            for (task, text), judgement in zip(questions, self._judged(questions), strict=True)
        ]

    def _spans_of(self, text: str, proof: str, trace: lean.ProofTrace) -> tuple[Span, ...] | None:
        places = places_in(text, proof)
        if places is None:
            return self._span_of_term(text, proof, trace)

        def span(part: lean.ProofPart, value: float, label: str) -> Span:
            return Span(places[part.start], places[part.end - 1] + 1, value, label)

        found = [
            span(one, self.sound, "sound") if one.changes else span(one, 0.0, "idle")
            for one in trace.sound
            if one.start < one.end
        ]
        if (failing := trace.failing) is not None:
            if failing.start < failing.end:
                found.append(span(failing, self.failing, "failing"))
            if proof[failing.end :].strip():
                rest = lean.ProofPart(failing.end, len(proof.rstrip()))
                found.append(span(rest, self.following, "following"))
        if trace.goals_left:
            found.append(Span(len(text), len(text), self.failing, "unfinished"))
        return tuple(found)

    def score(self, judgement: lean.TacticOutcome) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is lean.Verdict.UNOPENED:
            return None
        return 1.0 if judgement.verdict is lean.Verdict.SOLVED else self.dense * judgement.progress

    def _span_of_term(
        self, text: str, proof: str, trace: lean.ProofTrace
    ) -> tuple[Span, ...] | None:
        """Return one span for a proof that was a term, which Lean was given behind ``exact``."""
        before = _AS_TERM.match(proof)
        places = None if before is None else places_in(text, proof[before.end() :].rstrip())
        if places is None:
            return None
        start, end = places[0], places[-1] + 1
        if trace.outcome.valid:
            return (Span(start, end, self.sound, "sound"),)
        wrong = trace.failing is not None or trace.goals_left
        return (Span(start, end, self.failing, "failing"),) if wrong else ()


def places_in(text: str, proof: str) -> list[int] | None:
    r"""Return the index in a completion of each character of the proof that was read from it.

    The proof is the last place with the same lines, up to their indentation; ``None`` if there is
    no such place.

    >>> places_in("theorem t : p := by\n    a\n    b", "a\nb")
    [24, 25, 30]
    """
    lines = proof.split("\n")
    pattern = r"[ \t\r]*\n[ \t]*".join(f"({re.escape(line.strip())})" for line in lines)
    found = list(re.finditer(pattern, text))
    if not found or not proof.strip():
        return None
    places: list[int] = []
    for number, line in enumerate(lines, 1):
        # Spaces before a line may be fewer than in the completion; its end counts, too.
        first = found[-1].start(number) - (len(line) - len(line.lstrip()))
        places += (min(max(first + n, 0), len(text) - 1) for n in range(len(line) + 1))
    return places[:-1]
