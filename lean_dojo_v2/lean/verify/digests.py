"""Digests of goals, so that states are compared as terms, never as text.

Two goals share a digest if their hypotheses and targets are the same terms, in order. Names,
printing options and hidden arguments do not matter. Whether a hypothesis is accessible does: after
``rename_i`` a proof can use more.

Our engines answer ``dojo.digest``. Others give Pantograph's s-expressions, from which names are
removed here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from lean_dojo_v2.lean.client.records import INACCESSIBLE, GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import StaleStateError

_WORD = re.compile(r'"(?:\\.|[^"\\])*"|[()]|[^\s()"]+')
_SHORT = re.compile(r"[0-9a-f]{1,64}")
_BINDERS = frozenset({":lambda", ":forall", ":let"})
_VARIABLES = frozenset({":fv", ":mv"})
_Tree: TypeAlias = "str | list[_Tree]"


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
    if not server.capabilities.ours:
        return _by_expressions(server, state, timeout)
    answer = server.ask("dojo.digest", {"stateId": state.state_id}, timeout)
    return StateDigest(tuple(answer["goals"]), bool(answer["hasSorry"]), tuple(answer["each"]))


def _by_expressions(server: Server, state: GoalState, timeout: float | None) -> StateDigest:
    """Compute digests with Pantograph's own commands."""
    server.ask("options.set", {"printExprAST": True}, timeout)
    try:
        answer = server.goal_print(state, timeout=timeout)
    finally:
        server.ask("options.set", {"printExprAST": False}, timeout)
    goals = answer.get("goals") or ()
    numbers: dict[str, int] = {}
    texts = ["\n".join(_goal_lines(goal, numbers)) for goal in goals]
    alone = ("\n".join(_goal_lines(goal, {})) for goal in goals)
    return StateDigest(
        tuple(map(_sha256, texts)),
        any("(:c sorryAx)" in text for text in texts),
        tuple(map(_sha256, alone)),
    )


def kept(digest: str) -> str:
    """Return a short form of a digest, since engines may return texts of any length."""
    return digest if _SHORT.fullmatch(digest) else _sha256(digest)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _goal_lines(goal: Mapping[str, Any], numbers: dict[str, int]) -> Iterator[str]:
    for variable in goal.get("vars", ()):
        name = str(variable.get("userName") or INACCESSIBLE)
        parts = [variable.get("type"), variable.get("value")]
        texts = [anonymous(part["sexp"], numbers) if part else "" for part in parts]
        numbers.setdefault(str(variable.get("name")), len(numbers))
        yield "|".join(["nameless" if INACCESSIBLE in name else "named", *texts])
    yield f"{goal.get('fragment', '')} {anonymous(goal['target']['sexp'], numbers)}"


def anonymous(sexp: str, numbers: dict[str, int]) -> str:
    """Remove the names from an s-expression of Pantograph.

    Args:
        sexp: The expression.
        numbers: Numbers of the free and metavariables met so far; new ones are added.

    Returns:
        The same expression without names of binders, its variables numbered.

    >>> anonymous("(:forall n (:c Nat) ((:c P) 0 (:fv _uniq.7)))", {"_uniq.7": 0})
    '(:forall (:c Nat) ((:c P) 0 (:fv 0)))'
    """
    return _written(_parsed(sexp), numbers)


def _parsed(sexp: str) -> _Tree:
    stack: list[list[_Tree]] = [[]]
    for word in _WORD.findall(sexp):
        if word == "(":
            stack.append([])
        elif word == ")" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0] if len(stack[0]) == 1 else stack[0]


def _written(tree: _Tree, numbers: dict[str, int]) -> str:
    if isinstance(tree, str):
        return tree
    match tree:
        case [str() as head, str() as name] if head in _VARIABLES:
            return f"({head} {numbers.setdefault(name, len(numbers))})"
        case [str() as head, _, *parts] if head in _BINDERS:
            return f"({' '.join([head, *(_written(part, numbers) for part in parts)])})"
    return f"({' '.join(_written(part, numbers) for part in tree)})"
