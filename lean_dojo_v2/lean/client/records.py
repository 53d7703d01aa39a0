"""Goals and tactics as typed records, with the names of PyPantograph's.

>>> goal = Goal("_uniq.7", [Variable("Nat", name="n"), Variable("Nat", name="m")], "n + m = m + n")
>>> print(goal)
n m : Nat
⊢ n + m = m + n
"""

import functools
import re
from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import groupby
from typing import Any, Self, TypeAlias

import attrs

from lean_dojo_v2.lean.messages import LeanMessage

Expr: TypeAlias = str
"""An expression, as Lean prints or reads it."""

INACCESSIBLE = "✝"
"""Lean's mark of an inaccessible name."""
_WORD = re.compile(r"(?:[^\WλΠΣ]|['?!])*")
"""What Lean may read as one part of an identifier, and more; after it, a word is complete."""


@attrs.frozen(slots=False)
class TacticWords:
    """The tokens, ``words``, that a tactic may begin with in an environment.

    >>> words = TacticWords(frozenset({"simp", "simp_all", "·"}))
    >>> [words.begin(text) for text in ("To prove", "simp [h]", "sim", "simp", "· rfl", "simply ")]
    [False, True, None, None, True, False]

    With ``other``, it may also begin in another way, for example with any identifier.
    """

    words: frozenset[str] = attrs.field(repr=False)
    other: bool = False

    def begin(self, text: str) -> bool | None:
        """Whether one of them begins a text; ``None`` if that depends on how the text goes on."""
        text = text.lstrip()
        if self.other or text.startswith(("«", "--", "/-")):
            return True
        found = _WORD.match(text)
        word = found[0] if found else ""
        if (word in self.words and word != text) or text.startswith(self._symbols):
            return True
        if text in {"", "-", "/"} or any(one.startswith(text) for one in self.words):
            return None  # it depends on how the text goes on
        return False

    @functools.cached_property
    def _symbols(self) -> tuple[str, ...]:
        """The tokens that are no single word: they end where they end, whatever follows."""
        return tuple(one for one in self.words if not _WORD.fullmatch(one))


def parse_expr(payload: Mapping[str, Any]) -> Expr:
    """Read Pantograph's ``Expression``: its pretty-printed form, or its s-expression."""
    return str(payload["pp"] if "pp" in payload else payload["sexp"])


class TacticMode(Enum):
    """The language of a goal's next step."""

    TACTIC = "tactic"
    CONV = "conv"
    CALC = "calc"

    def serial(self) -> str:
        """Return Pantograph's name."""
        return self.value


@attrs.frozen
class Variable:
    """A hypothesis or a variable of a goal.

    Attributes:
        t: Its type.
        v: Its value, for a ``let`` variable.
        name: Its name; inaccessible ones carry a ``✝``.
        is_have: Whether it is a ``have``, whose value a proof cannot use, if the engine reports it.
    """

    t: Expr
    v: Expr | None = None
    name: str | None = None
    is_have: bool = attrs.field(default=False, eq=False, repr=False)

    @property
    def value(self) -> Expr | None:
        """Its value, for a ``let`` variable: what a proof can use."""
        return None if self.is_have else self.v

    @property
    def inaccessible(self) -> bool:
        """Whether its name is inaccessible."""
        return self.name is None or INACCESSIBLE in self.name

    @classmethod
    def parse(cls, payload: Mapping[str, Any]) -> Self:
        """Read Pantograph's ``Variable``."""
        value = payload.get("value")
        return cls(
            t=parse_expr(payload["type"]) if payload.get("type") else "",
            v=parse_expr(value) if value else None,
            name=payload.get("userName"),
            is_have=bool(payload.get("isHave")),
        )

    def __str__(self) -> str:
        value = "" if self.v is None else f" := {self.v}"
        return f"{self.name or '_'} : {self.t}{value}"


@attrs.frozen
class Goal:
    """One goal.

    Attributes:
        id: Lean's internal name of it, unique in its state.
        variables: Its hypotheses, oldest first.
        target: Its target.
        sibling_dep: Positions of the goals that it shares metavariables with, with the
            option ``printDependentMVars``.
        name: Its case tag, for example ``inl``.
        mode: The language of its next step.
        pp: The goal as Lean itself printed it, line breaks and all, if the engine reports it.
    """

    id: str
    variables: list[Variable]
    target: Expr
    sibling_dep: set[int] | None = None
    name: str | None = None
    mode: TacticMode = TacticMode.TACTIC
    pp: str | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def is_conversion(self) -> bool:
        """Whether it is a ``conv`` goal."""
        return self.mode is TacticMode.CONV

    @classmethod
    def parse(cls, payload: Mapping[str, Any], siblings: Mapping[str, int]) -> Self:
        """Read Pantograph's ``Goal``; ``siblings`` gives the position of each goal by its id."""
        variables = payload.get("vars", ())
        expressions = [payload["target"], *(v.get("type") for v in variables)]
        expressions += [v.get("value") for v in variables]
        known = [e["dependentMVars"] for e in expressions if e and "dependentMVars" in e]
        depends = {siblings[name] for names in known for name in names if name in siblings}
        return cls(
            id=payload.get("name", ""),
            variables=[Variable.parse(variable) for variable in variables],
            target=parse_expr(payload["target"]),
            sibling_dep=depends if known else None,
            name=payload.get("userName"),
            mode=TacticMode(payload.get("fragment", "tactic")),
            pp=payload.get("pp"),
        )

    def __str__(self) -> str:
        """Print the goal as Lean does: variables of one type share a line, values stand alone."""
        if self.pp:
            return self.pp
        lines = [f"case {self.name}"] if self.name else []
        for (kind, value), group in groupby(self.variables, key=lambda v: (v.t, v.v)):
            if value is None:
                lines.append(f"{' '.join(v.name or '_' for v in group)} : {kind}")
            else:
                lines.extend(str(variable) for variable in group)
        lines.append(f"{'|' if self.is_conversion else '⊢'} {self.target}")
        return "\n".join(lines)


@attrs.define(eq=False)
class Session:
    """One life of an engine process; goal states belong to it.

    ``dropped`` are the ids of those that are no longer referenced. It is a deque, because the
    garbage collector may append to it in any thread at any moment.
    """

    dropped: deque[int] = attrs.field(factory=deque, init=False)


@attrs.define(eq=False)
class StateHandle:
    """Keeps a goal state alive in its engine; shared by all copies of one ``GoalState``."""

    session: Session
    state_id: int

    def __del__(self) -> None:
        self.session.dropped.append(self.state_id)


@attrs.frozen
class GoalState:
    """All goals of a proof in progress, alive in an engine.

    The engine forgets the state some time after the last copy of this object is gone.

    Attributes:
        state_id: The engine's number of it.
        goals: Every open goal.
        messages: Lean's messages when it was reached.
        handle: Ties it to its engine process.
        pp: The goals as Lean itself printed them, line breaks and all, if the engine reports it.
        owed: Open metavariables that are not goals but occur in them, left by the last tactic:
            ``?h : P`` behind a goal ``?h = ?h``. Reported if ``goal_tactic`` got ``axioms``.
    """

    state_id: int
    goals: list[Goal]
    messages: list[LeanMessage]
    handle: StateHandle = attrs.field(eq=False, repr=False)
    pp: str | None = attrs.field(default=None, eq=False, repr=False)
    owed: str = attrs.field(default="", eq=False, repr=False)

    @property
    def is_solved(self) -> bool:
        """Whether no goal at all is open."""
        return not self.goals

    @classmethod
    def parse(
        cls,
        state_id: int,
        answer: Mapping[str, Any],
        session: Session,
        messages: Sequence[LeanMessage] = (),
    ) -> Self:
        """Read the goals of an answer."""
        siblings = {goal.get("name", ""): index for index, goal in enumerate(answer["goals"])}
        return cls(
            state_id,
            [Goal.parse(goal, siblings) for goal in answer["goals"]],
            list(messages),
            StateHandle(session, state_id),
            answer.get("pp"),
            str(answer.get("owed", "")),
        )

    def __str__(self) -> str:
        return self.pp or print_goals(self.goals)


def print_goals(goals: Sequence[Goal]) -> str:
    """Print goals as Lean does."""
    return "\n\n".join(map(str, goals)) or "no goals"


@attrs.frozen
class Site:
    """The place where a tactic acts: the goal at ``goal_id`` in ``state.goals``, or the first.

    With ``auto_resume`` the other goals stay in scope; default: the server's ``automaticMode``.
    """

    goal_id: int | None = None
    auto_resume: bool | None = None

    def serial(self) -> dict[str, int | bool]:
        """Return Pantograph's fields."""
        fields = {"goalId": self.goal_id, "autoResume": self.auto_resume}
        return {name: value for name, value in fields.items() if value is not None}


@attrs.frozen
class TacticHave:
    """``have {binder_name} : {branch} := …``, leaving both goals."""

    branch: str
    binder_name: str | None = None


@attrs.frozen
class TacticLet:
    """``let {binder_name} : {branch} := …``, leaving both goals."""

    branch: str
    binder_name: str | None = None


@attrs.frozen
class TacticExpr:
    """Assign a term to the goal."""

    expr: str


@attrs.frozen
class TacticDraft:
    """Assign a term to the goal; each ``sorry`` in it becomes a new goal."""

    expr: str


Tactic: TypeAlias = str | TacticHave | TacticLet | TacticExpr | TacticDraft | TacticMode
"""What ``Server.goal_tactic`` runs: Lean's text, or one of Pantograph's special tactics."""


def serial_tactic(tactic: Tactic) -> dict[str, Any]:
    """Return Pantograph's fields for a tactic; anything else is a TypeError."""
    match tactic:
        case str():
            return {"tactic": tactic}
        case TacticHave() | TacticLet():
            key = "have" if isinstance(tactic, TacticHave) else "let"
            name = {"binderName": tactic.binder_name} if tactic.binder_name else {}
            return {key: tactic.branch, **name}
        case TacticExpr():
            return {"expr": tactic.expr}
        case TacticDraft():
            return {"draft": tactic.expr}
        case TacticMode():
            return {"mode": tactic.serial()}
        case _:
            raise TypeError(
                f"a tactic is a string or a Tactic… record, not {type(tactic).__name__}"
            )
