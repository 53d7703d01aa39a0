"""Requests about a place in a file, as from an editor or a coding agent."""

from __future__ import annotations

from typing import Any

from lean_dojo_v2.lean.client.records import GoalState, print_goals
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.client.units import CompilationUnit
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.verify.tactics import TACTIC_TIMEOUT, check_tactic
from lean_dojo_v2.prover.judging import refusal_data

Answer = dict[str, Any]


def goals_at(server: Server, text: str, line: int, column: int, timeout: float) -> Answer:
    """Return the goals before the tactic at a place, and after it.

    Args:
        server: The engine.
        text: The whole file.
        line: From 1.
        column: From 0, in code points.
        timeout: Seconds that Lean may take.

    Returns:
        ``tactic``, ``before`` and ``after``; all empty if there is no tactic.

    Raises:
        RequestError: The file cannot be opened, or has no such place.
    """
    offset = offset_of(text, line, column)
    found = [
        tactic
        for tactic in server.ask("dojo.trace", {"file": text}, timeout)["tactics"]
        if tactic["bytes"][0] <= offset <= tactic["bytes"][1]
    ]
    if not found:
        return {"tactic": "", "before": "", "after": ""}
    here = min(found, key=lambda tactic: tactic["bytes"][1] - tactic["bytes"][0])
    return {
        "tactic": here["tactic"],
        "before": here["state_before"],
        "after": here["state_after"],
    }


def try_at(
    server: Server, text: str, place: tuple[int, int], tactics: list[str], timeout: float
) -> list[Answer]:
    """Try tactics in place of the ``sorry`` at a place; each starts from the same goal.

    Args:
        server: The engine.
        text: The whole file.
        place: Line, from 1, and column, from 0, of the ``sorry``.
        tactics: The tactics: hostile input.
        timeout: Seconds that Lean may take for the file.

    Returns:
        For each tactic its ``verdict``, the ``state`` after it, ``detail`` and ``refusal``.

    Raises:
        RequestError: The file cannot be opened, or there is no ``sorry``.
    """
    state, index = _sorry_at(server, text, offset_of(text, *place), timeout)
    answers = []
    for tactic in tactics:
        outcome = check_tactic(server, state, tactic, goal_index=index, timeout=TACTIC_TIMEOUT)
        left = None
        if outcome.state is not None:
            others = {goal.id for number, goal in enumerate(state.goals) if number != index}
            goals = [goal for goal in outcome.state.goals if goal.id not in others]
            left = print_goals(goals)
        answers.append(
            {
                "tactic": tactic,
                "verdict": outcome.verdict.value,
                "closes": left == "no goals",
                "state": left,
                "detail": outcome.detail,
                "refusal": refusal_data(outcome.refusal),
            }
        )
    return answers


def sorries(server: Server, text: str, timeout: float) -> list[Answer]:
    """List the ``sorry``s of a file, with position and goal."""
    found = []
    for unit in server.process(text, read_header=True, sorrys=True, timeout=timeout):
        for index, (start, _end) in enumerate(_places(unit)):
            assert unit.goal_state is not None
            line, column = place_of(text, start)
            goal = str(unit.goal_state.goals[index])
            found.append({"line": line, "column": column, "goal": goal})
    return found


def offset_of(text: str, line: int, column: int) -> int:
    """Turn a place into a byte offset.

    Raises:
        RequestError: The text has no such place.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or not 0 <= column <= len(lines[line - 1]):
        raise RequestError(f"the file has no line {line} with a column {column}")
    before = "".join(f"{one}\n" for one in lines[: line - 1]) + lines[line - 1][:column]
    return len(before.encode())


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Turn a byte offset into a line, from 1, and a column, from 0 in code points."""
    before = text.encode()[:offset].decode()
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)


def _sorry_at(server: Server, text: str, offset: int, timeout: float) -> tuple[GoalState, int]:
    for unit in server.process(text, read_header=True, sorrys=True, timeout=timeout):
        for index, (start, end) in enumerate(_places(unit)):
            if start <= offset <= end and unit.goal_state is not None:
                return unit.goal_state, index
    line, column = place_of(text, offset)
    raise RequestError(f"there is no `sorry` at line {line}, column {column}")


def _places(unit: CompilationUnit) -> list[tuple[int, int]]:
    return unit.goal_src_boundaries or []
