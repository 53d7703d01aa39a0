"""Tactics as typed records, with PyPantograph's names, and their errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from lean_dojo_v2.lean.client.records import TacticMode
from lean_dojo_v2.lean.errors import TacticError
from lean_dojo_v2.lean.messages import LeanMessage


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


def serial_tactic(tactic: Tactic) -> dict[str, Any]:
    """Return Pantograph's fields for a tactic.

    Raises:
        TypeError: If it is none of the kinds of :data:`Tactic`.
    """
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


def limited_tactic(tactic: Tactic, options: Mapping[str, int], *, beside: bool) -> dict[str, Any]:
    """Return Pantograph's fields for a tactic that runs under options of Lean.

    If the engine does not take them ``beside`` the tactic, they are written before a textual one.
    """
    fields = serial_tactic(tactic)
    if options and beside:
        return {**fields, "options": dict(options)}
    if options and "tactic" in fields:
        # On a line of its own: several lines of tactics begin in one column.
        limits = "".join(f"set_option {name} {value} in\n" for name, value in options.items())
        return {**fields, "tactic": limits + fields["tactic"]}
    return fields


def refusal(answer: Mapping[str, Any], messages: Sequence[LeanMessage]) -> TacticError:
    """Make the error of a rejected tactic from Lean's messages."""
    # Before version 0.3, Pantograph gave a failed tactic's errors as plain strings.
    old = answer.get("tacticErrors") or ["the tactic failed without a reason"]
    text = "\n".join(message.data for message in messages) or "\n".join(map(str, old))
    return TacticError(text, messages)


def check_means(
    answer: Mapping[str, Any], messages: Sequence[LeanMessage], axioms: Collection[str] | None
) -> None:
    """Refuse a tactic that Lean accepted but that used forbidden means.

    Raises:
        TacticError: It used ``sorry``, something unsafe, or an axiom that is not among ``axioms``.
    """
    for flag, what in (("hasSorry", "sorry"), ("hasUnsafe", "something unsafe")):
        if answer.get(flag):
            raise TacticError(f"The tactic used {what}.", messages)
    if axioms is not None and (other := set(answer.get("axioms", ())) - set(axioms)):
        raise TacticError(f"The tactic depends on {', '.join(sorted(other))}.", messages)
