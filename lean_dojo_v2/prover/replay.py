"""Reach states by replaying tactics, since states die with their engine."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Protocol

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineDiedError, EngineTimeoutError, RequestError
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.proofs import PROOF_TIMEOUT
from lean_dojo_v2.lean.verify.tactics import check_tactic

KEPT_STATES = 128
"""Number of states kept alive per engine; others are replayed."""


class Opens(Protocol):
    """The start of a proof; equal ones open equal states."""

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names that a proof may not cite."""

    def open(self, server: Server) -> GoalState:
        """Open it, without itself in scope.

        Raises:
            LeanError: If its file or statement does not elaborate.
            EngineLostError: If the engine died or the time was up.
        """


def replay(
    server: Server,
    start: Opens,
    tactics: Sequence[str],
    *,
    heartbeats: int | None = None,
    timeout: float = PROOF_TIMEOUT,
) -> GoalState:
    """Open a problem and run tactics from it, reusing states that the engine still holds.

    Args:
        server: The engine.
        start: The start.
        tactics: The tactics: hostile input.
        heartbeats: Lean's heartbeats for each, as for :func:`check_tactic`.
        timeout: Seconds that Lean may take for each.

    Raises:
        RequestError: Lean does not accept one of the tactics.
        EngineLostError: The engine was lost; another one may succeed.
        LeanError: The problem cannot be opened.
    """
    with _lock:  # each engine has its own thread, but the dictionary is shared
        kept = _kept.setdefault(server, Kept(KEPT_STATES))
    played = tuple(tactics)
    done, state = _furthest(server, kept, start, played)
    if state is None:
        state = start.open(server)
        kept[start, ()] = state
    for number, step in enumerate(played[done:], done + 1):
        outcome = check_tactic(
            server,
            state,
            step,
            own_names=start.own_names,
            heartbeats=heartbeats,
            timeout=timeout,
        )
        raise_if_lost(outcome)
        if outcome.verdict is Verdict.TIMED_OUT:
            raise EngineTimeoutError(outcome.detail)
        if outcome.state is None:
            raise RequestError(f"tactics: number {number}, {step!r}: {outcome.detail}")
        state = outcome.state
        kept[start, played[:number]] = state
    return state


def raise_if_lost(outcome: TacticOutcome) -> None:
    """Raise an ``EngineDiedError`` if the engine died, so that a pool uses another one."""
    if outcome.engine_died:
        raise EngineDiedError(outcome.detail)


_kept: weakref.WeakKeyDictionary[Server, Kept[GoalState]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _furthest(
    server: Server, kept: Kept[GoalState], start: Opens, played: tuple[str, ...]
) -> tuple[int, GoalState | None]:
    """Return the last state on the way that the engine holds, and the number of tactics to it."""
    for done in range(len(played), -1, -1):
        state = kept.known((start, played[:done]))
        if state is not None and server.holds(state):
            return done, state
    return 0, None
