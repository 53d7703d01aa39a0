"""Does a step advance a proof, or does it only look like one?

Lean accepts steps that change nothing of substance: ``skip``, ``have := trivial``, ``rename_i x``,
a goal that is duplicated. A reward that pays for "Lean accepted it" teaches a model exactly those.
So a step counts as an advance only if none of the goals that it leaves is *at least as hard* as the
goal it acted on.

Goal A is at least as hard as goal B if both have the same target and A knows nothing that B does
not: every hypothesis of A is, up to names, one of B's, or says nothing (``True``, ``a = a``).

A reward has to be stricter than a search. Some moves are open at nearly every goal, whatever it
says: ``exfalso``, ``apply Fin.elim0``, ``symm``, ``revert h``, ``by_contra h``,
``refine of_eq_true ?_``, ``have := Nat.le_refl 0``. A search should try them, for a proof may need
them; but a model that is paid for them learns to play nothing else. ``strict`` takes them for what
they are. Nor does it count a step that only adds facts to the same target (``have``,
``by_cases``): whether they help shows when a later step uses them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from lean_dojo_v2.lean.client.records import Goal, Variable

_NAME = re.compile(r"(?<![\w.'!?«])[^\W\d][\w'!?✝¹²³⁴⁵⁶⁷⁸⁹⁰]*")
_TRUTHS = re.compile(r"True|(?P<side>.+) (?:=|↔|≤|≥|⊆|∣|≍) (?P=side)|¬False|HEq (?P<a>\S+) (?P=a)")
_BRACKETS = {"(": ")", "{": "}", "[": "]", "⦃": "⦄", "⟨": "⟩"}
# What follows from a goal, and the goal from it, whatever the goal says.
_WRAPPED = (
    "{} ∧ True", "True ∧ {}", "{} ∧ {}", "{} ∨ False", "False ∨ {}", "{} ∨ {}", "¬¬{}",
    "{} = True", "True = {}", "{} ↔ True", "True ↔ {}", "True → {}", "¬{} → False", "¬{} → {}",
    "PLift {}", "Nonempty {}",
)  # fmt: skip
# What nobody can give, as little as a proof of ``False``: whoever may ask for it may ask anywhere.
_FALSEHOODS = re.compile(r"False|¬True|P?Empty|Fin 0|(?P<side>.+) (?:≠|<) (?P=side)")


def advances(before: Goal, after: Sequence[Goal], *, strict: bool = False) -> bool:
    """Whether a step from one goal to some goals gets nearer to the end.

    Args:
        before: The goal that the step acted on.
        after: The goals that it left of that goal (not its untouched siblings).
        strict: Do not count moves that are open at nearly every goal either.

    Returns:
        ``True`` if every goal left is easier, or none is left.

    >>> goal = Goal("1", [Variable("Nat", name="n")], "n + 0 = n")
    >>> advances(goal, [Goal("2", [Variable("Nat", name="m")], "m + 0 = m")])  # renamed
    False
    >>> advances(goal, [])
    True
    >>> absurd = Goal("1", goal.variables, "False")
    >>> advances(goal, [absurd]), advances(goal, [absurd], strict=True)
    (True, False)
    """
    if any(at_least_as_hard(goal, before) for goal in after):
        return False
    return not strict or not any(_is_cheap(goal, before) for goal in after)


def _is_cheap(goal: Goal, before: Goal) -> bool:
    """Whether a goal comes of another by moves that are open nearly everywhere."""
    denials = {f"¬{old}" for old in _operands(before.target)}  # by_contra, by_cases
    kept = [v for v in goal.variables if v.t not in denials]
    target = _introduced(goal.target, before.variables)
    if _FALSEHOODS.fullmatch(target) or target in _wraps(before.target):
        target = before.target
    known = _relevant(kept, target)
    targets = dict.fromkeys([target, _swapped(target)])
    return any(
        at_least_as_hard(attrs.evolve(goal, target=one, variables=known), before)
        or _only_adds(attrs.evolve(goal, target=one), before)
        for one in targets
    )


def _only_adds(goal: Goal, before: Goal) -> bool:
    """Whether a goal has the target of another and still knows all that the other knows."""
    mine, theirs = _telling(goal.variables), _telling(before.variables)
    return any(
        _target(goal, names) == _target(before, other)
        and _facts(theirs, other) <= _known(mine, names)
        for names, other in (({}, {}), (_by_order(mine), _by_order(theirs)))
    )


def _operands(target: str) -> tuple[str, str]:
    """How a proposition is printed as a part of a greater one."""
    return target, f"({target})"


def _wraps(target: str) -> set[str]:
    return {form.replace("{}", one) for form in _WRAPPED for one in _operands(target)}


def _introduced(target: str, known: Sequence[Variable]) -> str:
    """Strip the premises of a target that are known hypotheses: undo ``revert``."""
    facts = tuple(text for v in known for text in (f"{v.t} → ", f"({v.t}) → "))
    while True:
        if target.startswith(facts):
            target = target.removeprefix(next(fact for fact in facts if target.startswith(fact)))
        elif (rest := _instantiated(target, known)) != target:
            target = rest
        else:
            return target


def _instantiated(target: str, known: Sequence[Variable]) -> str:
    """Strip the leading ``∀`` binders that are known variables.

    >>> _instantiated("∀ {α : Type} (x y : α), x = y", [Variable("Type", name="α")])
    '∀ (x y : α), x = y'
    """
    if not target.startswith("∀ "):
        return target
    typed = {(v.name, v.t) for v in known}
    kinds = {v.t for v in known}
    rest = target.removeprefix("∀ ")
    while rest and rest[0] in _BRACKETS:
        end = _closing(rest)
        names, colon, kind = rest[1:end].partition(" : ")
        if not colon:  # an instance without a name
            names, kind = "_", names
        left = names.split()
        # The name of an instance says nothing.
        while left and ((left[0], kind) in typed or (rest[0] == "[" and kind in kinds)):
            left.pop(0)
        if left:
            inner = f"{' '.join(left)} : {kind}" if colon else kind
            return f"∀ {rest[0]}{inner}{rest[end:]}"
        rest = rest[end + 1 :].removeprefix(" ")
    return rest.removeprefix(", ") if rest.startswith(", ") else target


def _closing(text: str) -> int:
    """Find the bracket that closes the one at the start; the last character if there is none."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character in _BRACKETS) - (character in _BRACKETS.values())
        if depth == 0:
            return index
    return len(text) - 1


def _swapped(target: str) -> str:
    """Swap the sides of an equation or equivalence: undo ``symm``.

    >>> _swapped("a = b ↔ c = d"), _swapped("f (a = b) ≠ c"), _swapped("a = b → c = d")
    ('c = d ↔ a = b', 'c ≠ f (a = b)', 'a = b → c = d')
    """
    words = _outer_words(target)
    for signs, looser in (("↔", "∀ ∃ fun"), ("= ≠", "∀ ∃ fun ↔ → ∧ ∨")):
        places = [(at, word) for at, word in words if word in signs.split()]
        if len(places) == 1 and not any(word in looser.split() for _, word in words):
            [(at, sign)] = places
            return f"{target[at + len(sign) + 1 :]} {sign} {target[: at - 1]}"
    return target


def _outer_words(text: str) -> list[tuple[int, str]]:
    """Give the words that stand outside of brackets, with their places."""
    depth, words = 0, []
    for match in re.finditer(r"\S+", text):
        if depth == 0:
            words.append((match.start(), match[0]))
        depth += sum((c in _BRACKETS) - (c in _BRACKETS.values()) for c in match[0])
    return words


def _relevant(variables: Sequence[Variable], target: str) -> list[Variable]:
    """Drop hypotheses that speak of nothing in the goal and of which nothing speaks.

    Such a one is a fact of the library (``0 ≤ 0``), or a datum that nobody uses.
    """
    names = {v.name for v in variables if v.name}
    words = [(v, set(_NAME.findall(f"{v.t} {v.value or ''}"))) for v in variables]
    spoken_of = set(_NAME.findall(target)).union(*(found for _, found in words))
    return [v for v, found in words if found & names or v.name in spoken_of]


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
    lines = [f"{_rename(v.t, names)} := {_rename(v.value or '', names)}" for v in goal.variables]
    return "\n".join([*lines, _target(goal, names)])


def _telling(variables: Sequence[Variable]) -> list[Variable]:
    """Drop hypotheses that say nothing."""
    return [v for v in variables if v.value is not None or not _TRUTHS.fullmatch(v.t)]


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
    return _rename(variable.t, names), _rename(variable.value or "", names)


def _called(variable: Variable, names: Mapping[str, str]) -> str:
    return names.get(variable.name or "", variable.name or "")


def _is_mentioned(variable: Variable, variables: Sequence[Variable]) -> bool:
    """Whether another hypothesis speaks of it: then it matters which variable it is."""
    if not variable.name:
        return False
    return any(
        variable.name in _NAME.findall(f"{other.t} {other.value or ''}")
        for other in variables
        if other is not variable
    )
