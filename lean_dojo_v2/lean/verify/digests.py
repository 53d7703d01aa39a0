"""Digests of goals, so that states are compared as terms, never as text.

Two goals share a digest if their hypotheses and targets are the same terms, in order. Names,
printing options and hidden arguments do not matter. Whether a hypothesis is accessible does: after
``rename_i`` a proof can use more.
"""

from __future__ import annotations

import hashlib
import re

import attrs

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import StaleStateError

_SHORT = re.compile(r"[0-9a-f]{1,64}")


@attrs.frozen
class StateDigest:
    """Digests of a state.

    Attributes:
        goals: A digest for each open goal, in order; they are parts of one state, and may share
            metavariables.
        has_sorry: Whether a goal mentions ``sorry``, which also stands for terms that failed to
            elaborate.
        each: A digest of each goal by itself, to find it in other states.
    """

    goals: tuple[str, ...]
    has_sorry: bool
    each: tuple[str, ...] = ()


def digest(server: Server, state: GoalState, *, timeout: float | None = None) -> StateDigest:
    """Return the digests of a state; ``timeout`` replaces the server's.

    Raises:
        StaleStateError: The state belongs to an engine that is gone.
    """
    if not server.holds(state):
        raise StaleStateError(f"Goal state {state.state_id} belongs to an engine that is gone.")
    answer = server.ask("dojo.digest", {"stateId": state.state_id}, timeout)
    return StateDigest(tuple(answer["goals"]), bool(answer["hasSorry"]), tuple(answer["each"]))


def kept(digest: str) -> str:
    """Return a short form of a digest, since engines may return texts of any length."""
    return digest if _SHORT.fullmatch(digest) else _sha256(digest)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
