"""Questions answered on an engine: plain data in, plain data out, so that any pool may run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lean_dojo_v2.lean.client.records import Goal, GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError, RequestError
from lean_dojo_v2.lean.messages import Message, Position
from lean_dojo_v2.lean.verify.files import check_file
from lean_dojo_v2.lean.verify.goal_text import open_goal
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.screening import Refusal
from lean_dojo_v2.lean.verify.tactics import check_goal_proof, check_tactic

Answer = dict[str, Any]


def judge_tactic(
    server: Server, goal: str, tactics: list[str], tactic: str | None, timeout: float
) -> Answer:
    """Judge one tactic at the state that ``tactics`` lead to from ``goal``.

    Raises:
        RequestError: The goal cannot be opened, or the tactics do not lead anywhere.
        EngineLostError: The engine was lost before the tactic.
    """
    state = reach_state(server, goal, tactics)
    if tactic is None:
        return {"state": printed(state.goals), "solved": state.is_solved}
    return _judged(server, state, tactic, timeout)


def judge_tactics(
    server: Server, goal: str, tactics: list[str], candidates: list[str], timeout: float
) -> list[Answer]:
    """Judge several tactics, each at the state that ``tactics`` lead to from ``goal``.

    Raises:
        RequestError: The goal cannot be opened, or the tactics do not lead anywhere.
        EngineLostError: The engine was lost before the tactics.
    """
    state = reach_state(server, goal, tactics)
    answers = []
    for candidate in candidates:
        if not server.holds(state):  # the candidate before took its engine with it
            state = reach_state(server, goal, tactics)
        answers.append(_judged(server, state, candidate, timeout))
    return answers


def reach_state(server: Server, goal: str, tactics: Sequence[str]) -> GoalState:
    """Open a goal and run tactics from it.

    Args:
        server: The engine.
        goal: An expression, or a state as Lean prints it.
        tactics: The tactics: hostile input.

    Raises:
        RequestError: The goal cannot be opened, or Lean does not accept a tactic.
        EngineLostError: The engine was lost.
    """
    state = _opened(server, goal)
    for number, step in enumerate(tactics, 1):
        outcome = check_tactic(server, state, step)
        if outcome.state is None:
            raise RequestError(f"tactics: number {number}, {step!r}: {outcome.detail}")
        state = outcome.state
    return state


def _judged(server: Server, state: GoalState, tactic: str, timeout: float) -> Answer:
    outcome = check_tactic(server, state, tactic, timeout=timeout)
    return {
        "verdict": outcome.verdict.value,
        "detail": outcome.detail,
        "refusal": refusal_data(outcome.refusal),
        "state": None if outcome.state is None else printed(outcome.state.goals),
        "solved": outcome.state is not None and outcome.state.is_solved,
    }


def judge_proof(server: Server, goal: str, proof: str, timeout: float) -> Answer:
    """Judge a whole proof of a bare goal.

    Raises:
        RequestError: The goal is none.
        EngineLostError: The engine died over it, or the time was up.
    """
    _opened(server, goal)  # a goal that is none is the asker's mistake, not the proof's
    return proof_data(check_goal_proof(server, goal, proof, timeout=timeout))


def judge_file(server: Server, text: str, reference: str | None, timeout: float) -> Answer:
    """Judge a whole file.

    Raises:
        RequestError: It cannot be opened: its header does not parse, or a module is missing.
        EngineLostError: The engine died over it, or the time was up.
    """
    found = check_file(server, text, reference=reference, timeout=timeout)
    return {
        "valid": found.valid,
        "detail": found.detail,
        "refusal": refusal_data(found.refusal),
        "theorems": [
            {"name": one.name, "line": one.line, **proof_data(one.outcome)}
            for one in found.theorems
        ],
        "messages": [_message(message) for message in found.messages],
    }


def proof_data(outcome: ProofOutcome) -> Answer:
    """Give a proof's judgement as plain data."""
    return {
        "valid": outcome.valid,
        "detail": outcome.detail,
        "refusal": refusal_data(outcome.refusal),
        "axioms": list(outcome.axioms),
    }


def refusal_data(refusal: Refusal | None) -> Answer | None:
    """Give a refusal as plain data."""
    return None if refusal is None else {"reason": refusal.reason.value, "detail": refusal.detail}


def _opened(server: Server, goal: str) -> GoalState:
    """Open a goal: an expression, or a state as Lean prints it.

    Raises:
        RequestError: It is neither.
    """
    try:
        return open_goal(server, goal) if "⊢" in goal else server.goal_start(goal)
    except RequestError:
        raise
    except LeanError as error:
        if "⊢" not in goal:
            raise
        raise RequestError(f"goal: {error}") from error


def printed(goals: Sequence[Goal]) -> str:
    """Print goals as Lean does."""
    return "\n\n".join(str(goal) for goal in goals) or "no goals"


def _message(message: Message) -> Answer:
    severity = str(message.severity)
    return {
        "severity": "info" if severity == "information" else severity,
        "pos": _position(message.pos),
        "endPos": None if message.pos_end is None else _position(message.pos_end),
        "data": message.data,
    }


def _position(position: Position) -> Answer:
    return {"line": position.line, "column": position.column}
