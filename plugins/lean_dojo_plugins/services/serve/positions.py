"""Requests about a place in a file, as from an editor or a coding agent.

Lines count from 1, columns from 0 in code points. A file that cannot be opened, or a place that it
does not have, is a :class:`RequestError`.
"""

from collections.abc import Iterator
from typing import Any

from lean_dojo_v2 import lean
from lean_dojo_v2.prover import refusal_data

Answer = dict[str, Any]


def goals_at(server: lean.Server, text: str, line: int, column: int, timeout: float) -> Answer:
    """Return the tactic at a place and the goals before and after it; all empty without one."""
    offset = offset_of(text, line, column)
    found = [
        tactic
        for tactic in server.ask("dojo.trace", {"file": text}, timeout)["tactics"]
        if tactic["bytes"][0] <= offset <= tactic["bytes"][1]
    ]
    if not found:
        return {"tactic": "", "before": "", "after": ""}
    here = min(found, key=lambda tactic: tactic["bytes"][1] - tactic["bytes"][0])
    return {"tactic": here["tactic"], "before": here["state_before"], "after": here["state_after"]}


def try_at(
    server: lean.Server, text: str, place: tuple[int, int], tactics: list[str], timeout: float
) -> list[Answer]:
    """Try tactics, hostile input, in place of the ``sorry`` at a place, each from the same goal."""
    offset = offset_of(text, *place)
    here = (one for one in _sorries(server, text, timeout) if one[2] <= offset <= one[3])
    if (found := next(here, None)) is None:
        line, column = place
        raise lean.RequestError(f"there is no `sorry` at line {line}, column {column}")
    state, index, *_ = found
    answers = []
    for tactic in tactics:
        outcome = lean.check_tactic(
            server, state, tactic, goal_index=index, timeout=lean.TACTIC_TIMEOUT
        )
        left = None
        if outcome.state is not None:
            others = {goal.id for number, goal in enumerate(state.goals) if number != index}
            goals = [goal for goal in outcome.state.goals if goal.id not in others]
            left = lean.print_goals(goals)
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


def sorries(server: lean.Server, text: str, timeout: float) -> list[Answer]:
    """List the ``sorry``s of a file, with position and goal."""
    found = []
    for state, index, start, _ in _sorries(server, text, timeout):
        line, column = place_of(text, start)
        found.append({"line": line, "column": column, "goal": str(state.goals[index])})
    return found


def offset_of(text: str, line: int, column: int) -> int:
    """Turn a place into a byte offset; an error if the text has no such place."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or not 0 <= column <= len(lines[line - 1]):
        raise lean.RequestError(f"the file has no line {line} with a column {column}")
    before = "".join(f"{one}\n" for one in lines[: line - 1]) + lines[line - 1][:column]
    return len(before.encode())


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Turn a byte offset into a line, from 1, and a column, from 0 in code points."""
    before = text.encode()[:offset].decode()
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)


def _sorries(
    server: lean.Server, text: str, timeout: float
) -> Iterator[tuple[lean.GoalState, int, int, int]]:
    """Yield each ``sorry``: its state, its goal's index there, its first and last byte."""
    for unit in server.process(text, read_header=True, sorrys=True, timeout=timeout):
        for index, (start, end) in enumerate(unit.goal_src_boundaries or []):
            if unit.goal_state is not None:
                yield unit.goal_state, index, start, end
