"""Does a step advance a proof, or does it only look like one?

Lean accepts steps that change nothing of substance: ``skip``, ``have := trivial``, ``rename_i x``,
a goal that is duplicated. A reward that pays for "Lean accepted it" teaches a model exactly those.
So a step counts as an advance only if none of the goals that it leaves is *at least as hard* as the
goal it acted on.

Goal A is at least as hard as goal B if both have the same target and A knows nothing that B does
not: every hypothesis of A is, up to names, one of B's, or says nothing (``True``, ``a = a``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lean_dojo_v2.lean.records import Goal, Variable

_NAME = re.compile(r"(?<![\w.'!?«])[^\W\d][\w'!?✝¹²³⁴⁵⁶⁷⁸⁹⁰]*")
_TRUTHS = re.compile(r"True|(?P<side>.+) (?:=|↔) (?P=side)|¬False|HEq (?P<a>\S+) (?P=a)")


def advances(before: Goal, after: Sequence[Goal]) -> bool:
    """Whether a step from one goal to some goals gets nearer to the end.

    Args:
        before: The goal that the step acted on.
        after: The goals that it left of that goal (not its untouched siblings).

    Returns:
        ``True`` if every goal left is easier, or none is left.

    >>> goal = Goal("1", [Variable("Nat", name="n")], "n + 0 = n")
    >>> advances(goal, [Goal("2", [Variable("Nat", name="m")], "m + 0 = m")])  # renamed
    False
    >>> advances(goal, [])
    True
    """
    return not any(at_least_as_hard(goal, before) for goal in after)


def at_least_as_hard(goal: Goal, than: Goal) -> bool:
    """Whether ``goal`` offers no advance over ``than`` (see the module's text)."""
    mine, theirs = _telling(goal.variables), _telling(than.variables)
    if goal.is_conversion != than.is_conversion:
        return False
    return any(
        _target(goal, names) == _target(than, other)
        and _facts(mine, names) <= _known(theirs, other)
        for names, other in (
            ({}, {}),  # as they are named
            (_by_order(mine), _by_order(theirs)),  # renamed
        )
    )


def canonical(goal: Goal) -> str:
    """Give a text that two goals share exactly if they differ in names alone.

    Hypotheses keep their order. Used to recognise states that a search has seen.

    >>> a = Goal("1", [Variable("Nat", name="n")], "n = n")
    >>> canonical(a) == canonical(Goal("2", [Variable("Nat", name="k")], "k = k", name="inl"))
    True
    """
    names = _by_order(goal.variables)
    lines = [f"{_rename(v.t, names)} := {_rename(v.v or '', names)}" for v in goal.variables]
    return "\n".join([*lines, _target(goal, names)])


def _telling(variables: Sequence[Variable]) -> list[Variable]:
    """Drop hypotheses that say nothing."""
    return [v for v in variables if v.v is not None or not _TRUTHS.fullmatch(v.t)]


def _by_order(variables: Sequence[Variable]) -> dict[str, str]:
    """Number the names; a shadowed name stands for the youngest variable that bears it."""
    return {v.name: f"‹{index}›" for index, v in enumerate(variables) if v.name}


def _rename(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    return _NAME.sub(lambda match: names.get(match[0], match[0]), text)


def _target(goal: Goal, names: Mapping[str, str]) -> str:
    return _rename(goal.target, names)


def _facts(variables: Sequence[Variable], names: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """Each hypothesis by what it says; data that others speak of also by which one it is."""
    return {
        (*_says(v, names), _called(v, names) if _is_mentioned(v, variables) else "")
        for v in variables
    }


def _known(variables: Sequence[Variable], names: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """The same with every hypothesis in both forms: what knows more also knows less."""
    return {(*_says(v, names), called) for v in variables for called in ("", _called(v, names))}


def _says(variable: Variable, names: Mapping[str, str]) -> tuple[str, str]:
    return _rename(variable.t, names), _rename(variable.v or "", names)


def _called(variable: Variable, names: Mapping[str, str]) -> str:
    return names.get(variable.name or "", variable.name or "")


def _is_mentioned(variable: Variable, variables: Sequence[Variable]) -> bool:
    """Whether another hypothesis speaks of it: then it matters which variable it is."""
    if not variable.name:
        return False
    return any(
        variable.name in _NAME.findall(f"{other.t} {other.v or ''}")
        for other in variables
        if other is not variable
    )
