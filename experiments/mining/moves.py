"""What the look of a goal suggests: steps that make simpler goals, and tactics that close it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from lean_dojo_v2.lean.client.records import Goal, Variable

CLOSERS = ("rfl", "simp", "omega", "simp_all", "grind", "decide")
"""What closes a goal or is of no use, from the cheapest on."""
_CASES = {
    "Nat": "| zero => ?_ | succ {0} => ?_",
    "List": "| nil => ?_ | cons {0} {1} => ?_",
    "Option": "| none => ?_ | some {0} => ?_",
    "Int": "| ofNat {0} => ?_ | negSucc {0} => ?_",
    "Bool": "| false => ?_ | true => ?_",
    "Sum": "| inl {0} => ?_ | inr {0} => ?_",
}
_INDUCTION = {
    "Nat": "| zero => ?_ | succ {0} {2} => ?_",
    "List": "| nil => ?_ | cons {0} {1} {2} => ?_",
}
_FIELDS = {
    "Array": "⟨{1}⟩",
    "Vector": "⟨{1}, {2}⟩",
    "Prod": "⟨{0}, {1}⟩",
    "Fin": "⟨{0}, {2}⟩",
    "Subtype": "⟨{0}, {2}⟩",
    "String": "⟨{1}⟩",
}
_NAMES = {"Nat": "n", "Int": "n", "Fin": "i"}
_BINDER = re.compile(r"^∀ (.*?), (.*)$", re.DOTALL)
_CONSTANT = re.compile(r"(?<![\w.'])[A-Z]\w*(?:\.[\w'?!]+)+")
_FIELD = re.compile(r"(?<![\w.'])(\w+)\.([a-z][\w'?!]*)")
_MOST_CONSTANTS = 2


def moves(goal: Goal) -> Iterator[str]:
    """Yield the steps that a goal suggests, the most natural first.

    A case analysis or an induction leaves each case as a goal of its own.
    """
    names = {variable.name for variable in goal.variables if variable.name}
    if (intro := _intro(str(goal.target), names)) is not None:
        yield intro
        return
    known = [variable for variable in goal.variables if not variable.inaccessible]
    for variable in known:
        yield from _of_hypothesis(variable, names)
    yield from _of_target(str(goal.target), names)
    yield from _of_data(known, str(goal.target), names)


def closers(goal: Goal) -> Iterator[str]:
    """Yield what may close a goal: a hypothesis, automation, and that with definitions."""
    target = str(goal.target)
    for variable in goal.variables:
        if not variable.inaccessible and str(variable.t) == target:
            yield f"exact {variable.name}"
    yield from CLOSERS
    for constant in _constants(goal):
        yield f"simp [{constant}]"
        yield f"simp_all [{constant}]"
        yield f"grind [{constant}]"


def _intro(target: str, names: set[str]) -> str | None:
    if (match := _BINDER.match(target)) is not None:
        return f"intro {' '.join(_binder_names(match[1], names))}"
    parts = split_outside(target, " → ")
    if len(parts) > 1:
        found: list[str] = []
        for _ in parts[1:]:
            found.append(_fresh("h", names | set(found)))
        return f"intro {' '.join(found)}"
    if target.startswith("¬"):
        return f"intro {_fresh('h', names)}"
    return None


def _binder_names(text: str, taken: Collection[str | None]) -> list[str]:
    """Name what a binder introduces: ``{α : Type u} [BEq α] (a b : α)`` is ``α _ a b``.

    >>> _binder_names("{α : Type u} [BEq α] (a b : α)", ())
    ['α', '_', 'a', 'b']
    >>> _binder_names("n : Nat", ())
    ['n']
    """
    groups = re.findall(r"[({\[⦃][^()]*?[)}\]⦄]|\([^()]*(?:\([^()]*\)[^()]*)*\)", text)
    found: list[str] = []
    for group in groups or [f"({text})"]:
        before, colon, _ = group[1:-1].partition(" : ")
        found += ["_"] if not colon else before.split()
    return [name if name not in taken else _fresh(name, taken) for name in found]


def _of_hypothesis(variable: Variable, names: set[str]) -> Iterator[str]:
    name, kind = variable.name, str(variable.t)
    if split_outside(kind, " ∧ ")[1:]:
        yield f"obtain ⟨{_fresh('h', names)}, {_fresh('h', names, 2)}⟩ := {name}"
    elif kind.startswith("∃ "):
        bound = re.match(r"∃ \(?(\w+)", kind)
        value = _fresh(bound[1] if bound else "x", names)
        yield f"obtain ⟨{value}, {_fresh('h', names)}⟩ := {name}"
    elif split_outside(kind, " ∨ ")[1:]:
        yield f"rcases {name} with {name} | {name}"
    else:
        sides = split_outside(kind, " = ")
        if len(sides) == 2 and any(re.fullmatch(r"\w+", side) for side in sides):
            yield f"subst {name}"


def _of_target(target: str, names: set[str]) -> Iterator[str]:
    if split_outside(target, " ∧ ")[1:] or split_outside(target, " ↔ ")[1:]:
        yield "constructor"
    elif target.startswith("∃ "):
        yield "refine ⟨_, ?_⟩"
    elif split_outside(target, " ∨ ")[1:]:
        yield "left"
        yield "right"
    if "if " in target or "match " in target:
        yield "split"
    if target.startswith("(fun ") or " = fun " in target:
        yield f"funext {_fresh('x', names)}"


def _of_data(known: Sequence[Variable], target: str, names: set[str]) -> Iterator[str]:
    """Take apart what the target speaks of."""
    spoken = [
        v for v in known if re.search(rf"(?<![\w.']){re.escape(str(v.name))}(?![\w'])", target)
    ]
    data = [(v, _head(v)) for v in spoken]
    for variable, head in data:
        if head in _FIELDS:
            yield f"obtain {_filled(_FIELDS[head], head, names)} := {variable.name}"
    for variable, head in data:
        if head in _INDUCTION:
            cases = _filled(_INDUCTION[head], head, names)
            yield f"induction {variable.name} with {cases}"
            others = [str(v.name) for v, kind in data if v is not variable and kind in _CASES]
            if others:
                yield f"induction {variable.name} generalizing {' '.join(others)} with {cases}"
    for variable, head in data:
        if head in _CASES:
            yield f"cases {variable.name} with {_filled(_CASES[head], head, names)}"


def _filled(pattern: str, head: str, names: set[str]) -> str:
    value = _fresh(_NAMES.get(head, "x"), names)
    rest = _fresh("xs", names)
    return pattern.format(value, rest, _fresh("ih" if head in _INDUCTION else "h", names))


def _head(variable: Variable) -> str:
    kind = str(variable.t)
    return "Prod" if " × " in kind and "→" not in kind else kind.split(" ", 1)[0]


def _constants(goal: Goal) -> list[str]:
    """Name definitions that the target speaks of: ``List.map f l``, or ``l.map f``."""
    target = str(goal.target)
    heads = {str(v.name): _head(v) for v in goal.variables if v.name}
    found = _CONSTANT.findall(target)
    found += [f"{heads[a]}.{b}" for a, b in _FIELD.findall(target) if a in heads]
    return list(dict.fromkeys(found))[:_MOST_CONSTANTS]


def _fresh(name: str, taken: Collection[str | None], number: int = 1) -> str:
    """Return the n-th name like this one that is free.

    >>> _fresh("h", {"h", "h1"}), _fresh("h", {"h"}, 2)
    ('h2', 'h2')
    """
    free = (one for one in (name, *(f"{name}{i}" for i in range(1, 99))) if one not in taken)
    for _ in range(number - 1):
        next(free)
    return next(free)


def split_outside(text: str, separator: str, most: int = 99) -> list[str]:
    """Split at a separator outside of brackets and of what a binder reaches over.

    >>> split_outside("a ∧ (b ∧ c)", " ∧ "), split_outside("∀ x, p x ∧ q x", " ∧ ")
    (['a', '(b ∧ c)'], ['∀ x, p x ∧ q x'])
    """
    depth, start = 0, 0
    found: list[str] = []
    for index, letter in enumerate(text):
        depth += (letter in "([{⟨") - (letter in ")]}⟩")
        if depth:
            continue
        if text.startswith(("∀ ", "∃ ", "fun ", "¬∀", "¬∃"), index):
            break
        if len(found) < most - 1 and text.startswith(separator, index):
            found.append(text[start:index])
            start = index + len(separator)
    return [*found, text[start:]]
