"""Does a tactic work, does a proof hold?

Three walls stand between a model's completion and a "yes": its text (:mod:`.screening`), Lean's own
parser (exactly one tactic, of a kind that proves and does nothing else), and Lean's judgement: the
goals that a tactic leaves, or for a whole proof the axioms and the statement of the finished
theorem, elaborated again in its file's context without itself in scope.

"No error and no sorry" verifies nothing: Lean says nothing at all about a new axiom,
``native_decide`` or a skipped kernel check.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from lean_dojo_core.records import Position
from lean_dojo_v2.lean.advance import advances
from lean_dojo_v2.lean.errors import (
    EngineLostError,
    EngineTimeoutError,
    LeanError,
    RequestError,
    TacticFailure,
    TacticParseError,
)
from lean_dojo_v2.lean.grammar import parse
from lean_dojo_v2.lean.outcomes import ProofOutcome, TacticOutcome, Verdict
from lean_dojo_v2.lean.proof_checking import check_declaration, check_goal_proof, check_proof
from lean_dojo_v2.lean.records import GoalState, Site
from lean_dojo_v2.lean.screening import screen
from lean_dojo_v2.lean.server import Server
from lean_dojo_v2.lean.source import SourceTheorem

__all__ = [
    "ProofOutcome",
    "TacticOutcome",
    "Verdict",
    "check_declaration",
    "check_goal_proof",
    "check_proof",
    "check_tactic",
    "open_exact",
    "open_theorem",
]

TACTIC_TIMEOUT = 10.0
"""Seconds that Lean may take for one tactic."""


def check_tactic(
    server: Server,
    state: GoalState,
    tactic: str,
    *,
    goal_index: int = 0,
    own_names: Collection[str] = (),
    timeout: float = TACTIC_TIMEOUT,
) -> TacticOutcome:
    """Try one tactic at a state.

    Args:
        server: The engine that holds the state.
        state: The goals.
        tactic: A model's completion: hostile input.
        goal_index: The goal it acts on.
        own_names: Names of the theorem that is being proved; citing one is refused.
        timeout: Seconds that Lean may take.

    Returns:
        What became of it. ``SOLVED`` means that no goal at all is open, siblings included.
        An engine that died or hung is told by the verdict; the server starts another when it is
        next asked.
    """
    text = tactic.strip()
    if refusal := screen(text, own_names=own_names):
        return TacticOutcome(Verdict.REFUSED, detail=str(refusal), refusal=refusal)
    try:
        if refusal := parse(server, text, state=state, own_names=own_names, timeout=timeout):
            return TacticOutcome(Verdict.REFUSED, detail=str(refusal), refusal=refusal)
        site = Site(goal_index, auto_resume=True)
        after = server.goal_tactic(state, text, site, timeout=timeout)
    except TacticParseError as error:
        return TacticOutcome(Verdict.UNPARSED, detail=str(error))
    except TacticFailure as error:
        return TacticOutcome(Verdict.FAILED, detail=str(error))
    except EngineTimeoutError as error:
        return TacticOutcome(Verdict.TIMED_OUT, detail=str(error))
    except EngineLostError as error:
        return TacticOutcome(Verdict.ENGINE_DIED, detail=str(error))
    except LeanError as error:
        return TacticOutcome(Verdict.FAILED, detail=str(error))
    if after.is_solved:
        return TacticOutcome(Verdict.SOLVED, after)
    siblings = {goal.id for index, goal in enumerate(state.goals) if index != goal_index}
    left = [goal for goal in after.goals if goal.id not in siblings]
    if advances(state.goals[goal_index], left):
        return TacticOutcome(Verdict.ADVANCED, after)
    return TacticOutcome(Verdict.NO_ADVANCE, after, "leaves a goal that is no easier")


def open_theorem(server: Server, source: SourceTheorem) -> GoalState:
    """Open the goal of a theorem in its file's context, without itself in scope.

    Args:
        server: An engine; with the repository as ``project_path`` if the file imports from it.
        source: The theorem and its file.

    Raises:
        LeanError: If the statement does not elaborate.
        EngineLostError: If the engine died or the time was up.
    """
    declaration = f"{source.head} := by\n  skip"
    text = source.before + declaration + ("\nend\n" if source.in_mutual_block else "\n")
    place = len((source.before + declaration).encode()) - len("skip")
    try:
        state = _state_at(server, source, text, place)
    except RequestError as error:
        if error.code != "command":
            raise
        state = _open_by_sorry(server, source)
    if re.search(r"\bsorry\b", str(state)):  # what Lean puts where it could not elaborate
        raise LeanError(
            f"{source.file_path}:{source.start[0]}: the statement of {source.full_name} does not "
            f"elaborate; Lean reads it as {state}"
        )
    return state


def open_exact(server: Server, source: SourceTheorem, position: Position) -> GoalState:
    """Open the state in which a theorem's own proof plays a tactic, by replaying it.

    Args:
        server: As for :func:`open_theorem`.
        source: The theorem and its file.
        position: Where the tactic starts in the file.

    Raises:
        LeanError: If there is no tactic at that place.
    """
    text = source.before + source.declaration + ("\nend\n" if source.in_mutual_block else "\n")
    place = len(source.text[: source.offset(position)].encode())
    return _state_at(server, source, text, place)


def _state_at(server: Server, source: SourceTheorem, text: str, place: int) -> GoalState:
    fields = {
        "file": text,
        "fileName": source.file_path,
        "position": place,
        "stateBefore": True,
        "prefix": source.context_end,
    }
    return server.request_state("dojo.state_at", fields)[0]


def _open_by_sorry(server: Server, source: SourceTheorem) -> GoalState:
    """Do it with Pantograph's own commands: the goal of the ``sorry`` that stands for the proof."""
    text = f"{source.before}{source.head} := sorry\n"
    units = server.process(text, read_header=True, sorrys=True)
    states = [unit.goal_state for unit in units if unit.goal_state is not None]
    if not states:
        raise LeanError(
            f"{source.file_path}:{source.start[0]}: the statement of {source.full_name} does not "
            "elaborate: " + "; ".join(str(error) for unit in units for error in unit.errors)
        )
    return states[-1]
