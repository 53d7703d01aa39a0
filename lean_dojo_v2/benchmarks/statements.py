"""Sets of statements: reading rows, finding duplicates, leaving out held-out ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.database.export.splits import HELD_OUT_SPLITS
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.prover.completions import with_context
from lean_dojo_v2.wording import counted

_NAME = re.compile(r"[^\W\d][\w']*")
_BRACKETS = frozenset("({⦃[")
_CLOSING = frozenset(")}⦄]")
_BINDERS = frozenset({"∀", "∃", "∃!", "fun", "λ", "∑", "∏"})


@attrs.frozen
class Statement:
    """A theorem of a set.

    Attributes:
        problem: The theorem, without a proof.
        has_proof: Whether the set contains a proof, which is never shown.
    """

    problem: BenchmarkProblem
    has_proof: bool = False

    @property
    def is_held_out(self) -> bool:
        """Whether its split is held out."""
        return self.problem.split in HELD_OUT_SPLITS


class LeftOut(StrEnum):
    """Why a row of a set is not trained on; the values follow a number in messages."""

    UNREADABLE = "not a readable theorem"
    HELD_OUT = "of held-out splits"
    SAYS_HELD_OUT = "stating the same as a held-out one"
    SAID_TWICE = "stating the same as another one"


@attrs.frozen
class Examined:
    """A set after examination.

    Attributes:
        problems: The remaining problems; their names differ.
        left_out: Those left out, by reason: names, or location and error.
        with_proof: Number of remaining problems with a proof in the set.
    """

    problems: tuple[BenchmarkProblem, ...]
    left_out: Mapping[LeftOut, tuple[str, ...]]
    with_proof: int = 0

    @property
    def total(self) -> int:
        """Rows of the set."""
        return len(self.problems) + sum(map(len, self.left_out.values()))

    def lines(self) -> list[str]:
        """Describe the remaining and left-out rows, with shares and an example of each."""
        said = [
            f"{counted(len(self.problems), 'statement', 'statements')} of {self.total}, "
            f"{self.with_proof} of which have a proof, which is not shown"
            if self.with_proof
            else f"{counted(len(self.problems), 'statement', 'statements')} of {self.total}"
        ]
        for reason, names in self.left_out.items():
            share = 100 * len(names) / self.total
            said.append(f"left out: {len(names)} ({share:.1f} %) {reason}, such as {names[0]}")
        return said


def examine(found: Iterable[Statement | UsageError], held_out: Iterable[str] = ()) -> Examined:
    """Select the statements that may be trained on.

    Args:
        found: The rows of a set; an error for one that is not a theorem.
        held_out: Statements of other theorems that are held out.
    """
    rows = list(found)
    secret = {normalised(one) for one in held_out}
    readable = [row for row in rows if isinstance(row, Statement)]
    secret.update(normalised(row.problem.statement) for row in readable if row.is_held_out)
    kept: list[Statement] = []
    left_out: dict[LeftOut, list[str]] = {}
    seen: set[str] = set()
    for row in rows:
        if isinstance(row, UsageError):
            left_out.setdefault(LeftOut.UNREADABLE, []).append(str(row))
            continue
        problem = row.problem
        what = normalised(problem.statement)
        here = with_context(problem.header or "", what)
        if row.is_held_out:
            reason = LeftOut.HELD_OUT
        elif what in secret:
            reason = LeftOut.SAYS_HELD_OUT
        elif here in seen:
            reason = LeftOut.SAID_TWICE
        else:
            seen.add(here)
            kept.append(row)
            continue
        left_out.setdefault(reason, []).append(problem.full_name)
    return Examined(
        tuple(distinctly_named(row.problem for row in kept)),
        {reason: tuple(left_out[reason]) for reason in LeftOut if reason in left_out},
        sum(row.has_proof for row in kept),
    )


def distinctly_named(problems: Iterable[BenchmarkProblem]) -> Iterator[BenchmarkProblem]:
    """Rename theorems whose names have occurred before: ``t``, ``t_2``, ``t_3``."""
    seen: Counter[str] = Counter()
    for problem in problems:
        seen[problem.full_name] += 1
        number = seen[problem.full_name]
        if number == 1:
            yield problem
        elif problem.theorem is not None:  # its name is fixed by its file
            yield attrs.evolve(problem, full_name=f"{problem.full_name} #{number}")
        else:
            yield _renamed(problem, f"_{number}")


def _renamed(problem: BenchmarkProblem, ending: str) -> BenchmarkProblem:
    tokens = list(code_tokens(problem.statement))
    place = next(i for i, one in enumerate(tokens) if one.text in {"theorem", "lemma"})
    end = tokens[place + 1].end
    statement = f"{problem.statement[:end]}{ending}{problem.statement[end:]}"
    return attrs.evolve(problem, full_name=problem.full_name + ending, statement=statement)


def normalised(statement: str) -> str:
    r"""Normalise a declaration: without modifiers, name, comments and layout.

    Bound variables are numbered.

    >>> normalised("private theorem a.b.{u} (n:Nat) : -- all\n    n = n :=")
    '( #1 : Nat ) : #1 = #1'
    >>> normalised("lemma c (m : Nat) : m = m := by")
    '( #1 : Nat ) : #1 = #1'
    >>> normalised("theorem d : ∀ x y, x < y → ∃ z, x.z < z :=")
    ': ∀ #1 #2 , #1 < #2 → ∃ #3 , #1.z < #3'
    >>> normalised("theorem e (y : ℝ) : (sin y : ℝ) ≤ 1 :=")
    '( #1 : ℝ ) : ( sin #1 : ℝ ) ≤ 1'
    """
    words = [token.text for token in code_tokens(statement)]
    start = next((i + 2 for i, word in enumerate(words) if word in {"theorem", "lemma"}), 0)
    if words[start : start + 2] == [".", "{"]:  # the name's universes
        start = words.index("}", start) + 1 if "}" in words[start:] else start
    words = words[start:]
    for end in ("sorry", "by", ":="):
        if words[-1:] == [end]:
            words.pop()
    numbers: dict[str, str] = {}
    for name in _bound(words):
        numbers.setdefault(name, f"#{len(numbers) + 1}")
    return " ".join(
        word if before == "." else _numbered(word, numbers)
        for before, word in zip(["", *words], words, strict=False)
    )


def _bound(words: list[str]) -> Iterator[str]:
    """Yield the names that binders introduce, in the order of the text."""
    goes_on = 0  # brackets up to here belong to the previous binder: ∀ x (h : p)
    for place, word in enumerate(words):
        if word not in _BRACKETS and word not in _BINDERS:
            continue
        before = words[place - 1] if place else ""
        begins = place in {0, goes_on} or before in _CLOSING or before in _BINDERS
        if word == "(" and not begins:
            continue  # a term with its type
        names = []
        for following in words[place + 1 :]:
            if not _NAME.fullmatch(following):
                break
            names.append(following)
        else:
            following = ""
        if word in _BINDERS or following == ":":
            goes_on = place + 1 + len(names)
            yield from names


def _numbered(word: str, numbers: Mapping[str, str]) -> str:
    first, dot, rest = word.partition(".")
    return numbers[first] + dot + rest if first in numbers else word
