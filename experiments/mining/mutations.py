"""Other statements out of a theorem's: what is proved like it, and is not the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mining.moves import split_outside

_HEAD = re.compile(r"theorem (\S+?)(\.\{[^}]*\})?(?=[\s:({\[⦃])")
_DATA = re.compile(r"[({](\w+(?: \w+)*) : (Nat|List [^(){}\[\]]+)[)}]")
_SYMMETRIC = (" = ", " ↔ ", " ≠ ")


def mutations(statement: str) -> Iterator[tuple[str, str]]:
    """Yield variants of a theorem.

    Args:
        statement: ``theorem NAME.{u} (n : Nat) : n = n :=``.

    Yields:
        What was done, and the new statement, with another name.

    >>> for kind, text in mutations("theorem a.b (n m : Nat) (h : n < m) : n + 0 = n :="):
    ...     print(kind, text)
    forall theorem a.b_forall : ∀ (n m : Nat) (h : n < m), n + 0 = n :=
    symm theorem a.b_symm (n m : Nat) (h : n < m) : n = n + 0 :=
    empty theorem a.b_empty (n : Nat) (h : n < (0 : Nat)) : n + 0 = n :=
    larger theorem a.b_larger (n m : Nat) (h : n < (m + 1)) : n + 0 = n :=
    """
    parts = _parts(statement)
    if parts is None:
        return
    name, levels, binders, claim = parts
    if binders:
        yield "forall", f"theorem {name}_forall{levels} : ∀ {binders}, {claim} :="
    for sign in _SYMMETRIC:
        sides = split_outside(claim, sign)
        if len(sides) == 2 and not split_outside(claim, " → ")[1:]:
            swapped = f"{sides[1]}{sign}{sides[0]}"
            before = f" {binders}" if binders else ""
            yield "symm", f"theorem {name}_symm{levels}{before} : {swapped} :="
            break
    yield from _instances(name, levels, binders, claim)


def _instances(name: str, levels: str, binders: str, claim: str) -> Iterator[tuple[str, str]]:
    """Put a constructor in the place of the first number or list that is no other's argument."""
    group = _DATA.search(binders)
    if group is None:
        return
    variable, kind = group[1].split()[-1], group[2]
    if re.search(rf"(?:fun|∀|∃) \(?{variable}\b", claim):
        return  # it is bound anew, and a text does not tell one from the other
    others = " ".join(group[1].split()[:-1])
    rest = binders[group.end() :]
    before = binders[: group.start()]
    if kind == "Nat":
        empty, larger, added = "(0 : Nat)", f"({variable} + 1)", ""
    else:
        element = kind.removeprefix("List ")
        empty, larger = f"([] : {kind})", f"(head :: {variable})"
        added = f" (head : {element})"
    kept = f"({others} : {kind})" if others else ""
    for what, value, own in (
        ("empty", empty, kept),
        ("larger", larger, f"{group[0]}{added}"),
    ):
        place = rf"(?<![\w.'✝]){variable}(?![\w'])"
        new = re.sub(place, value, f"{rest} : {claim}")
        text = " ".join(f"{before}{own}{new}".split())
        yield what, f"theorem {name}_{what}{levels} {text} :="


def both(first: str, second: str) -> str | None:
    """Return the conjunction of two theorems as one; ``None`` if they cannot be read.

    >>> both("theorem a (n : Nat) : n = n :=", "theorem b : 1 = 1 :=")
    'theorem a_and_b : (∀ (n : Nat), n = n) ∧ 1 = 1 :='
    """
    one, two = _parts(first), _parts(second)
    if one is None or two is None:
        return None
    levels = dict.fromkeys(re.findall(r"\w+", one[1]) + re.findall(r"\w+", two[1]))
    universes = f".{{{', '.join(levels)}}}" if levels else ""
    claims = [f"(∀ {p[2]}, {p[3]})" if p[2] else p[3] for p in (one, two)]
    name = f"{one[0]}_and_{two[0].replace('.', '_')}"
    return f"theorem {name}{universes} : {claims[0]} ∧ {claims[1]} :="


def _parts(statement: str) -> tuple[str, str, str, str] | None:
    """Take a statement apart: name, universe levels, binders, claim."""
    head = _HEAD.match(statement)
    if head is None:
        return None
    text = " ".join(statement[head.end() :].removesuffix(":=").split())
    sides = split_outside(f" {text}", " : ", most=2)
    if len(sides) != 2:
        return None
    return head[1], head[2] or "", sides[0].strip(), sides[1].strip()
