"""No theorem of the sample projects states what another one states, up to the names of variables.

A held-out theorem must not be a training theorem in other letters, whatever the split.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import permutations
from typing import Any

import pytest

from lean_dojo_v2.sample import sample_database_path

_WORD = re.compile(r"[^\W\d][\w'!?✝]*(?:\.\w+)*|\d+|\S")
_OPEN, _CLOSE = "([{⟨", ")]}⟩"
_BINDERS = {"∀", "∃", "fun"}


def _theorems() -> list[dict[str, Any]]:
    data = json.loads(sample_database_path().read_text(encoding="utf-8"))
    return [
        theorem
        for repository in data["repositories"]
        for theorem in repository["proven_theorems"] + repository["sorry_theorems_unproved"]
    ]


def _tokens(statement: str) -> list[str]:
    """Split a statement into words, without its modifiers, name and the final ``:=``."""
    body = re.sub(r"^.*?\btheorem\s+\S+", "", statement, count=1, flags=re.DOTALL)
    return _WORD.findall(body.strip().removesuffix(":="))


def _split(tokens: list[str], at: str) -> list[list[str]]:
    """Cut a token list at every ``at`` that stands outside brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in _OPEN) - (token in _CLOSE)
        if token == at and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _bound_names(tokens: list[str]) -> dict[str, None]:
    """Names bound by ``∀ x y,``, ``∃ x,`` or ``fun x =>`` anywhere in the tokens, in order."""
    names: dict[str, None] = {}
    for index, token in enumerate(tokens):
        if token in _BINDERS:
            for name in tokens[index + 1 :]:
                if name in {",", "=", ":"}:
                    break
                names[name] = None
    return names


def _canonical(statement: str) -> str:
    """A text that is the same for statements that differ in names and order of hypotheses only."""
    tokens = _tokens(statement)
    binders, *rest = _split(tokens, ":")
    conclusion = [token for part in rest for token in part]
    names: set[str] = set()
    hypotheses: list[list[str]] = []
    group: list[str] = []
    depth = 0
    for token in binders:
        depth += (token in _OPEN) - (token in _CLOSE)
        group.append(token)
        if depth == 0:
            if group[0] != "[":
                own, *kind = _split(group[1:-1], ":")
                names.update(own)
                hypotheses += [[t for part in kind for t in part]] * len(own)
            group = []
    if not {"∀", "∃"} & {conclusion[0]}:
        *premises, conclusion = _split(conclusion, "→")
        hypotheses += [_bare(premise) for premise in premises]
    # The type of a variable says little once its uses are there; what remains are the hypotheses.
    facts = [h for h in hypotheses if len(h) > 1 or h[0] in names]
    facts = [h for h in facts if h[-1] not in {"Prop", "Type"}]
    return min(_renamed([conclusion, *order], names) for order in permutations(facts))


def _bare(tokens: list[str]) -> list[str]:
    """Take off brackets around the whole."""
    if tokens[0] != "(":
        return tokens
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0:
            return tokens[1:-1] if index == len(tokens) - 1 else tokens
    return tokens


def _renamed(parts: list[list[str]], names: set[str]) -> str:
    numbers: dict[str, str] = {}

    def part_text(part: list[str]) -> str:
        local = {name: f"b{i}" for i, name in enumerate(_bound_names(part))}
        return " ".join(
            local.get(t) or (numbers.setdefault(t, f"v{len(numbers)}") if t in names else t)
            for t in part
        )

    return " ; ".join(part_text(part) for part in parts)


def test_every_statement_is_said_once() -> None:
    said = defaultdict(set)
    for theorem in _theorems():
        said[_canonical(theorem["theorem_statement"])].add(theorem["full_name"])
    assert {form: names for form, names in said.items() if len(names) > 1} == {}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "theorem a {p q : Prop} (h : p ∧ q) : q ∧ p :=",
            "theorem b {s r : Prop} (k : s ∧ r) : r ∧ s :=",
        ),
        (
            "theorem a {p q : Prop} (hp : p) (h : p → q) : q :=",
            "theorem b {p q : Prop} : (q → p) → q → p :=",
        ),
        (
            "theorem a {P : α → Prop} (h : ∃ x, P x) : ∃ y, P y :=",
            "private theorem b {Q : α → Prop} (h : ∃ z, Q z) : ∃ z, Q z :=",
        ),
    ],
)
def test_the_same_statement_in_other_letters_is_found(first: str, second: str) -> None:
    assert _canonical(first) == _canonical(second)


def test_different_statements_differ() -> None:
    swap = "theorem a {p q : Prop} (h : p ∧ q) : q ∧ p :="
    keep = "theorem a {p q : Prop} (h : p ∧ q) : p ∧ q :="
    assert _canonical(swap) != _canonical(keep)
