"""Problems of a search: a theorem in its file, or a bare goal; replay of tactics on them."""

import hashlib
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2 import lean
from lean_dojo_v2.prover.suggestion import Place

AnswerT = TypeVar("AnswerT")
KEPT_STATES = 128
"""Number of states kept alive per engine; others are replayed."""


class Opens(Protocol):
    """The start of a proof; equal ones open equal states."""

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names that a proof may not cite."""

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open it, without itself in scope; raises ``LeanError`` if it does not elaborate."""


class Problem(Opens, Protocol):
    """Something to prove."""

    @property
    def name(self) -> str:
        """Its name in results."""

    @property
    def place(self) -> Place | None:
        """Its place; ``None`` for a bare goal."""

    def check(
        self, server: lean.Server, proof: str, *, timeout: float = lean.PROOF_TIMEOUT
    ) -> lean.ProofOutcome:
        """Have Lean verify a finished proof, tactics one a line, in full."""


@attrs.frozen
class TheoremProblem:
    """A theorem of a file, to be proved in its file's context."""

    source: lean.SourceTheorem
    shown: str | Theorem | None = attrs.field(default=None, eq=False)
    """What a model reads that writes a whole proof: a prompt's text, or the traced theorem;
    ``None``: the statement."""

    @property
    def name(self) -> str:
        """The theorem's full name."""
        return self.source.full_name

    @property
    def place(self) -> Place | None:
        """Its place in its file."""
        return Place(self.source.file_path, self.source.start)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The theorem itself, by its full name and as its file writes it."""
        return self.source.own_names

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open the goal of its statement."""
        return lean.open_theorem(server, self.source)

    def check(
        self, server: lean.Server, proof: str, *, timeout: float = lean.PROOF_TIMEOUT
    ) -> lean.ProofOutcome:
        """Elaborate the theorem again with this proof."""
        return lean.check_proof(server, self.source, proof, timeout=timeout)


@attrs.frozen
class GoalProblem:
    """A bare goal, given as an expression such as ``"∀ n : Nat, n + 0 = n"``."""

    expression: str
    name: str = "goal"
    place: None = None
    own_names: tuple[str, ...] = ()

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open the goal; raises ``RequestError`` if Lean cannot read it as a proposition."""
        return lean.open_expression(server, self.expression)[0]

    def check(
        self, server: lean.Server, proof: str, *, timeout: float = lean.PROOF_TIMEOUT
    ) -> lean.ProofOutcome:
        """Elaborate ``theorem … : expression := by proof``."""
        return lean.check_goal_proof(server, self.expression, proof, timeout=timeout)


def seed_of(*parts: str | int) -> int:
    """Return a sampling seed that follows from all of these."""
    text = "\0".join(map(str, parts))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # torch takes 63 bits


def replay(
    server: lean.Server,
    start: Opens,
    tactics: Sequence[str],
    *,
    heartbeats: int | None = None,
) -> lean.GoalState:
    """Open a problem and run tactics from it, reusing states that the engine still holds.

    The tactics are hostile input; heartbeats and seconds count for each of them. ``RequestError``
    if Lean does not accept one, ``LeanError`` if the problem cannot be opened, ``EngineLostError``
    if the engine was lost, and its states with it; another one may succeed.
    """
    kept, played = _kept_of(server), tuple(tactics)
    for done in range(len(played), -1, -1):
        state = kept.get((start, played[:done]))
        if state is not None and server.holds(state):
            break
    else:
        state = kept[start, ()] = start.open(server)
    for number, step in enumerate(played[done:], done + 1):
        outcome = lean.check_tactic(
            server,
            state,
            step,
            own_names=start.own_names,
            heartbeats=heartbeats,
            timeout=lean.PROOF_TIMEOUT,
        )
        raise_if_lost(outcome)
        if outcome.verdict is lean.Verdict.TIMED_OUT:
            raise lean.EngineTimeoutError(outcome.detail)
        if outcome.state is None:
            raise lean.RequestError(f"tactics: number {number}, {step!r}: {outcome.detail}")
        state = outcome.state
        kept[start, played[:number]] = state
    return state


def again_if_lost(
    ask: Callable[[], AnswerT], note: Callable[[lean.EngineLostError], None] = lambda _: None
) -> AnswerT:
    """Ask Lean; again on a new engine if this one is lost, perhaps for another reason.

    The engine is shared, so it may be lost to another theorem, or full of its imports. ``note``
    hears of the first loss.
    """
    try:
        return ask()
    except lean.EngineLostError as error:
        note(error)
        return ask()


def keep_state(
    server: lean.Server, start: Opens, tactics: tuple[str, ...], state: lean.GoalState
) -> None:
    """Keep the state that tactics reached, so that :func:`replay` need not run the last again."""
    _kept_of(server)[start, tactics] = state


def raise_if_lost(outcome: lean.TacticOutcome) -> None:
    """Raise an ``EngineDiedError`` if the engine died, so that a pool uses another one."""
    if outcome.engine_died:
        raise lean.EngineDiedError(outcome.detail)


_kept: weakref.WeakKeyDictionary[lean.Server, lean.LRUCache[lean.GoalState]] = (
    weakref.WeakKeyDictionary()
)
_lock = threading.Lock()


def _kept_of(server: lean.Server) -> lean.LRUCache[lean.GoalState]:
    with _lock:  # each engine has its own thread, but the dictionary is shared
        return _kept.setdefault(server, lean.LRUCache(KEPT_STATES))
