"""Interaction with Lean: open a problem, and run one tactic after others."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from lean_dojo_v2.lean import GoalState, Server, Verdict, check_tactic
from lean_dojo_v2.prover.problem import Problem, keep_state, raise_if_lost, replay


@attrs.frozen
class PlayedTactic:
    """The outcome of one tactic.

    Attributes:
        tactic: The tactic.
        verdict: The verdict; ``SOLVED`` and ``UNPROVEN`` if Lean accepts it.
        state: The goals that it leaves.
        finished: Whether it leaves none.
        valid: Whether the proof that it finishes passes full verification.
        detail: Why the tactic or the finished proof was rejected.
    """

    tactic: str
    verdict: Verdict
    state: str = ""
    finished: bool = False
    valid: bool = False
    detail: str = ""

    @property
    def accepted(self) -> bool:
        """Whether Lean accepts it at its state."""
        return self.verdict in {Verdict.SOLVED, Verdict.UNPROVEN}


def begin_play(server: Server, problem: Problem, show: Callable[[GoalState], str]) -> str:
    """Open a problem, and show its goals."""
    return show(replay(server, problem, ()))


def play_tactic(
    server: Server,
    problem: Problem,
    tactics: tuple[str, ...],
    tactic: str,
    *,
    show: Callable[[GoalState], str],
    heartbeats: int | None,
    timeout: float,
) -> PlayedTactic:
    """Run a tactic, which is hostile input, after others; a proof that it finishes is verified.

    Args:
        server: The engine.
        problem: The problem.
        tactics: The tactics before it, which Lean has accepted.
        tactic: The tactic.
        show: Prints the goals that it leaves.
        heartbeats: Lean's heartbeats per tactic; ``None`` for Lean's own limit.
        timeout: Seconds that it may take; a safety net.

    Raises:
        RequestError: The earlier tactics cannot be replayed.
        EngineLostError: The engine was lost; another one may succeed.
    """
    before = replay(server, problem, tactics, heartbeats=heartbeats)
    outcome = check_tactic(
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
    state = show(outcome.state)
    if not outcome.state.is_solved:
        keep_state(server, problem, (*tactics, tactic), outcome.state)
        return PlayedTactic(tactic, outcome.verdict, state=state)
    whole = problem.check(server, "\n".join([*tactics, tactic]))
    return PlayedTactic(
        tactic, outcome.verdict, state, finished=True, valid=whole.valid, detail=whole.detail
    )
