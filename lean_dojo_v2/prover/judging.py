"""Tactics and proofs judged on an engine; what any pool can run has plain data in and out.

Functions ``judge_…`` raise ``RequestError`` if the client is at fault (a start that cannot be
opened, a tactic that Lean does not accept), and ``EngineLostError`` if the engine died or the time
was up.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from lean_dojo_v2 import lean
from lean_dojo_v2.prover.completions import proof_of
from lean_dojo_v2.prover.problem import Opens, Problem, keep_state, raise_if_lost, replay

Answer = dict[str, Any]


@attrs.frozen
class PlayedTactic:
    """The outcome of one tactic."""

    tactic: str
    verdict: lean.Verdict
    state: str = ""  # the goals that it leaves
    finished: bool = False  # whether it leaves none
    valid: bool = False  # whether the proof that it finishes passes full verification
    detail: str = ""  # why the tactic or the finished proof was rejected

    @property
    def accepted(self) -> bool:
        """Whether Lean accepts it at its state."""
        return self.verdict in {lean.Verdict.SOLVED, lean.Verdict.UNPROVEN}


def begin_play(server: lean.Server, problem: Problem) -> str:
    """Open a problem, and show its goals."""
    return str(replay(server, problem, ()))


def play_tactic(
    server: lean.Server,
    problem: Problem,
    tactics: tuple[str, ...],
    tactic: str,
    *,
    heartbeats: int | None,
    timeout: float,
) -> PlayedTactic:
    """Run a tactic, which is hostile input, after others; a proof that it finishes is verified.

    It may take so many of Lean's heartbeats (``None``: Lean's own limit), and seconds, a safety
    net. ``RequestError`` if the earlier tactics cannot be replayed, ``EngineLostError`` if the
    engine was lost; another one may succeed.
    """
    before = replay(server, problem, tactics, heartbeats=heartbeats)
    outcome = lean.check_tactic(
        server,
        before,
        tactic,
        own_names=problem.own_names,
        heartbeats=heartbeats,
        timeout=timeout,
    )
    raise_if_lost(outcome)
    if outcome.state is None:
        return PlayedTactic(tactic, outcome.verdict, detail=outcome.detail)
    state = str(outcome.state)
    if not outcome.state.is_solved:
        keep_state(server, problem, (*tactics, tactic), outcome.state)
        return PlayedTactic(tactic, outcome.verdict, state=state)
    whole = problem.check(server, "\n".join([*tactics, tactic]))
    return PlayedTactic(
        tactic, outcome.verdict, state, finished=True, valid=whole.valid, detail=whole.detail
    )


@attrs.frozen
class StatedGoal:
    """A goal stated by a client."""

    text: str
    own_names: tuple[str, ...] = ()

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open it."""
        server.begin(server.home)
        if "⊢" not in self.text:
            return lean.open_expression(server, self.text)[0]
        try:
            return lean.open_goal(server, self.text)
        except lean.ServerError:
            raise
        except lean.LeanError as error:
            raise lean.RequestError(f"goal: {error}") from error


def judge_tactic(
    server: lean.Server, start: Opens, tactics: list[str], tactic: str | None, timeout: float
) -> Answer:
    """Judge one tactic at the state reached by ``tactics``; without one, show the state."""
    state = reach_state(server, start, tactics)
    if tactic is None:
        return {"state": lean.print_goals(state.goals), "solved": state.is_solved}
    outcome = lean.check_tactic(server, state, tactic, own_names=start.own_names, timeout=timeout)
    raise_if_lost(outcome)
    return _tactic_data(outcome)


def judge_tactics(
    server: lean.Server, start: Opens, tactics: list[str], candidates: list[str], timeout: float
) -> list[Answer]:
    """Judge several tactics, each at the state reached by ``tactics``."""
    answers = []
    for candidate in candidates:
        # The previous tactic may have killed the engine.
        state = reach_state(server, start, tactics)
        outcome = lean.check_tactic(
            server, state, candidate, own_names=start.own_names, timeout=timeout
        )
        answers.append(_tactic_data(outcome))
    return answers


def reach_state(server: lean.Server, start: Opens, tactics: Sequence[str]) -> lean.GoalState:
    """Run tactics from a start; see :func:`replay`."""
    try:
        return replay(server, start, tactics)
    except (lean.ServerError, lean.EngineUnavailableError):
        raise
    except lean.LeanError as error:
        raise lean.RequestError(str(error)) from error


def _tactic_data(outcome: lean.TacticOutcome) -> Answer:
    return {
        "verdict": outcome.verdict.value,
        "detail": outcome.detail,
        "refusal": refusal_data(outcome.refusal),
        "state": None if outcome.state is None else lean.print_goals(outcome.state.goals),
        "solved": outcome.state is not None and outcome.state.is_solved,
    }


def judge_proof(server: lean.Server, problem: Problem, proof: str, timeout: float) -> Answer:
    """Judge a whole proof, which may have a model's form (:func:`.completions.proof_of`)."""
    reach_state(server, problem, ())  # a problem that cannot be opened is the client's mistake
    return _proof_data(problem.check(server, proof_of(proof, problem.name), timeout=timeout))


def judge_file(server: lean.Server, text: str, reference: str | None, timeout: float) -> Answer:
    """Judge a whole file, which must prove the theorems of ``reference``, if given.

    A file without a theorem proves nothing, so it is not valid. Its examples are not judged.
    """
    found = lean.check_file(server, text, reference=reference, timeout=timeout)
    nothing = "" if found.theorems else "the file states no theorem, so it proves nothing"
    return {
        "valid": found.valid and not nothing,
        "detail": found.detail or nothing,
        "refusal": refusal_data(found.refusal),
        "theorems": [
            {"name": one.name, "line": one.line, **_proof_data(one.outcome)}
            for one in found.theorems
        ],
        "examples": found.examples,
        "messages": [_message(message) for message in found.messages],
    }


def _proof_data(outcome: lean.ProofOutcome) -> Answer:
    return {
        "valid": outcome.valid,
        "detail": outcome.detail,
        "refusal": refusal_data(outcome.refusal),
        "axioms": list(outcome.axioms),
    }


def refusal_data(refusal: lean.Refusal | None) -> Answer | None:
    """Return a refusal as plain data."""
    return None if refusal is None else {"reason": refusal.reason.value, "detail": refusal.detail}


def _message(message: lean.LeanMessage) -> Answer:
    severity = str(message.severity)
    return {
        "severity": "info" if severity == "information" else severity,
        "pos": attrs.asdict(message.pos),
        "endPos": None if message.pos_end is None else attrs.asdict(message.pos_end),
        "data": message.data,
    }
