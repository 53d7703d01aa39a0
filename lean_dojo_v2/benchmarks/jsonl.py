"""Sets of statements: rows in the form of miniF2F and other public sets, and which to train on."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_core.wording import counted
from lean_dojo_v2.database import HELD_OUT_SPLITS
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.files import parse_json, read_named
from lean_dojo_v2.lean import code_tokens, parse_header, split_statement, without_end
from lean_dojo_v2.prover import with_context

JSONL, HUB = "jsonl", "hub"
"""Names of the benchmarks that read files, and data sets."""
_NO_PROOF = frozenset({":=", "by", "sorry"})
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "statement": ("formal_statement", "refined_statement", "full_proof"),
    "name": ("name", "theorem_names"),
    "header": ("header",),
    "split": ("split",),
}
"""The fields of a row, with the column names of public sets in the order of look-up."""
_NAME = re.compile(r"[^\W\d][\w']*")
_BRACKETS = frozenset("({⦃[")
_CLOSING = frozenset(")}⦄]")
_BINDERS = frozenset({"∀", "∃", "∃!", "fun", "λ", "∑", "∏"})


@attrs.frozen
class Statement:
    """A theorem of a set, and whether the set has a proof of it, which is never shown."""

    problem: BenchmarkProblem
    has_proof: bool = False

    @property
    def is_held_out(self) -> bool:
        """Whether its split is held out."""
        return self.problem.split in HELD_OUT_SPLITS


def columns_of(value: Mapping[str, str]) -> dict[str, str]:
    """Validate column names that replace those of :data:`COLUMNS`."""
    for key in value:
        if key not in COLUMNS:
            raise UsageError(f"columns: {key!r} is none of {', '.join(COLUMNS)}")
    return dict(value)


@attrs.frozen
class JsonlBenchmark:
    """Theorems of a file in the form of a public set: one JSON object per line.

    Keys: ``formal_statement`` (or ``refined_statement``, ``full_proof``), the Lean text of the
    theorem, with or without ``:= by`` and ``sorry`` at its end, perhaps after imports and lemmas;
    ``name`` (optional if the text names one theorem); ``header`` (optional), the text before it,
    such as ``import Mathlib``; ``split`` (optional). Other keys are ignored. These are the
    columns of miniF2F (Zheng et al. 2022, arXiv:2109.00110), DeepSeek-Prover-V1, NuminaMath-LEAN,
    Kimina-Prover-Promptset, Goedel-Pset, Lean-Workbook, FormalMATH and Herald.

    Attributes:
        file: The file.
        project: Folder of a built Lean project that has what the headers import, such as Mathlib.
        split: Only this split.
        columns: Other names of ``statement``, ``name``, ``header`` and ``split``.
    """

    file: Path = attrs.field(converter=Path)
    project: Path | None = attrs.field(default=None, converter=attrs.converters.optional(Path))
    split: str | None = None
    columns: Mapping[str, str] = attrs.field(factory=dict, converter=columns_of)

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return self.file.stem

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the file.

        Raises:
            UnreadableFileError: If there is no such file, or a line is not such an object, or its
                statement is not a theorem, or two theorems share a name.
        """
        return problems_or_raise(self.statements(), str(self.file))

    def statements(self) -> Iterator[Statement | UsageError]:
        """Yield each line's theorem, or what is wrong with the line."""
        # Not str.splitlines(): a JSON text may hold U+2028.
        for number, line in enumerate(read_named(self.file).split(b"\n"), 1):
            if line.strip():
                try:
                    found = statement_from(_object(line), self.project, self.columns)
                except (UsageError, ValueError) as error:
                    what = str(error) if isinstance(error, UsageError) else f"is not JSON: {error}"
                    yield UnreadableFileError(what, path=self.file, place=f"line {number}")
                else:
                    if self.split in {None, found.problem.split}:
                        yield found


def _object(line: bytes) -> Mapping[str, Any]:
    item = parse_json(line)
    if not isinstance(item, dict):
        raise UsageError("is not a JSON object")
    return item


def problems_or_raise(
    found: Iterable[Statement | UsageError], source: str
) -> list[BenchmarkProblem]:
    """Return the theorems of a set; raise if one is unreadable or two share a name."""
    problems = []
    for one in found:
        if isinstance(one, UsageError):
            raise one
        problems.append(one.problem)
    names = Counter(problem.full_name for problem in problems)
    if twice := [name for name, count in names.items() if count > 1]:
        message = f"has several theorems called {twice[0]!r}; results are counted by name"
        raise UnreadableFileError(message, path=source)
    return problems


def statement_from(
    item: Mapping[str, Any], project: Path | None = None, columns: Mapping[str, str] | None = None
) -> Statement:
    """Read a theorem of a public set, and whether it has a proof there; else ``UsageError``."""
    key = _column(item, "statement", columns or {})
    if not item.get(key):
        columns_there = ", ".join(map(repr, item)) or "none"
        raise UsageError(
            f"has no text {key!r}; its columns are {columns_there} (columns.statement=NAME chooses)"
        )
    text = _text(item, key)
    named = _column(item, "name", columns or {})
    name = _text(item, named) if named in item else None
    try:
        before, statement, found, proof = split_theorem(text, name)
    except UsageError as error:
        raise UsageError(f"{key!r} {error}") from error
    header = item.get(_column(item, "header", columns or {})) or ""  # Lean's core only
    if parse_header(before).imports and isinstance(header, str):
        header = ""  # a text with its own imports is complete
    split = item.get(_column(item, "split", columns or {}))
    if not isinstance(header, str) or not isinstance(split, str | None):
        raise UsageError("'header' and 'split' must be texts")
    problem = BenchmarkProblem(
        full_name=name or found,
        statement=statement,
        header=f"{header.rstrip()}\n\n{before}" if header else before,
        project=project,
        split=split,
    )
    return Statement(problem, any(t.text not in _NO_PROOF for t in code_tokens(proof)))


def _column(item: Mapping[str, Any], what: str, columns: Mapping[str, str]) -> str:
    tried = (columns[what],) if what in columns else COLUMNS[what]
    return next((key for key in tried if item.get(key)), tried[0])


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"has no text {key!r}")
    return value


def split_theorem(text: str, name: str | None = None) -> tuple[str, str, str, str]:
    """Split a theorem's text into what is before it, the theorem to ``:=``, its name, and the rest.

    Without a name it is the last theorem, since lemmas come before it. ``UsageError`` if there is
    no such theorem.
    """
    last = None if name is None else name.rpartition(".")[2]
    theorems = [
        (word, following)
        for word, following in pairwise(code_tokens(text))
        if word.text in {"theorem", "lemma"} and last in {None, following.text.rpartition(".")[2]}
    ]
    if not theorems:
        raise UsageError("has no theorem" if name is None else f"has no theorem called {name!r}")
    word, following = theorems[-1 if name is None else 0]
    found = split_statement(text, following.end)
    end = len(text) if found is None else found[0]
    statement = f"{without_end(text[word.start : end])} :="
    return text[: word.start], statement, following.text, text[end:]


def benchmark_named(source: str) -> tuple[str, dict[str, str]]:
    """Return the registered benchmark of a set, and the settings implied by the name.

    >>> benchmark_named("sets/few.jsonl")
    ('jsonl', {'file': 'sets/few.jsonl'})
    >>> benchmark_named("hub:AI-MO/NuminaMath-LEAN")
    ('hub', {'dataset': 'AI-MO/NuminaMath-LEAN'})
    >>> benchmark_named("sample")
    ('sample', {})
    """
    if Path(source).suffix == ".jsonl":
        return JSONL, {"file": source}
    if source.startswith(f"{HUB}:"):
        return HUB, {"dataset": source.removeprefix(f"{HUB}:")}
    return source, {}


class LeftOut(StrEnum):
    """Why a row of a set is not trained on; the values follow a number in messages."""

    UNREADABLE = "not a readable theorem"
    HELD_OUT = "of held-out splits"
    SAYS_HELD_OUT = "stating the same as a held-out one"
    SAID_TWICE = "stating the same as another one"


@attrs.frozen
class ExaminedStatements:
    """A set after examination."""

    problems: tuple[BenchmarkProblem, ...]
    left_out: Mapping[LeftOut, tuple[str, ...]]  # names, or location and error
    with_proof: int = 0  # number of the problems that have a proof in the set

    @property
    def total(self) -> int:
        """Rows of the set."""
        return len(self.problems) + sum(map(len, self.left_out.values()))

    def lines(self) -> list[str]:
        """Describe the remaining and left-out rows, with shares and an example of each."""
        said = [f"{counted(len(self.problems), 'statement')} of {self.total}"]
        if self.with_proof:
            said[0] += f", {self.with_proof} of which have a proof, which is not shown"
        for reason, names in self.left_out.items():
            share = 100 * len(names) / self.total
            said.append(f"left out: {len(names)} ({share:.1f} %) {reason}, such as {names[0]}")
        return said


def examine_statements(
    found: Iterable[Statement | UsageError], held_out: Iterable[str] = ()
) -> ExaminedStatements:
    """Select the statements that may be trained on; those of ``held_out`` may not."""
    rows = list(found)
    own = (row.problem.statement for row in rows if isinstance(row, Statement) and row.is_held_out)
    secret = set(map(normalised_statement, chain(held_out, own)))
    kept: list[Statement] = []
    left_out: dict[LeftOut, list[str]] = {}
    seen: set[str] = set()
    for row in rows:
        if isinstance(row, UsageError):
            left_out.setdefault(LeftOut.UNREADABLE, []).append(str(row))
            continue
        problem = row.problem
        what = normalised_statement(problem.statement)
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
    return ExaminedStatements(
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


def normalised_statement(statement: str) -> str:
    r"""Normalise a declaration: without modifiers, name, comments and layout.

    Bound variables are numbered.

    >>> normalised_statement("private theorem a.b.{u} (n:Nat) : -- all\n    n = n :=")
    '( #1 : Nat ) : #1 = #1'
    >>> normalised_statement("lemma c (m : Nat) : m = m := by")
    '( #1 : Nat ) : #1 = #1'
    >>> normalised_statement("theorem d : ∀ x y, x < y → ∃ z, x.z < z :=")
    ': ∀ #1 #2 , #1 < #2 → ∃ #3 , #1.z < #3'
    >>> normalised_statement("theorem e (y : ℝ) : (sin y : ℝ) ≤ 1 :=")
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
