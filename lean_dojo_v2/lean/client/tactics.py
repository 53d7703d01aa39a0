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


def refusal(messages: Sequence[LeanMessage]) -> TacticError:
    """Make the error of a rejected tactic from Lean's messages."""
    text = "\n".join(message.data for message in messages)
    return TacticError(text or "the tactic failed without a reason", messages)


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
