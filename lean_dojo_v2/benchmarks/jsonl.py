"""Benchmarks in a JSONL file, in the format of miniF2F and other public sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.statements import Statement
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.json_text import parse_json
from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.lean.text.lexer import code_tokens, without_end
from lean_dojo_v2.lean.text.statement import split_statement
from lean_dojo_v2.paths import read_named

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


def columns_of(value: Mapping[str, str]) -> dict[str, str]:
    """Validate column names that replace those of :data:`COLUMNS`.

    Raises:
        UsageError: If a key is none of them.
    """
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
        return strictly(self.statements(), str(self.file))

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


def strictly(found: Iterable[Statement | UsageError], source: str) -> list[BenchmarkProblem]:
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
    """Read one theorem of a public set, and whether it has a proof there.

    Args:
        item: A line's object, see :class:`JsonlBenchmark`.
        project: Folder of a built Lean project that has what the header imports.
        columns: See :class:`JsonlBenchmark`.

    Raises:
        UsageError: If it is not a theorem.
    """
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
    """Split a theorem's text into preceding text, statement and proof.

    Args:
        text: The theorem, with or without ``:= by`` and ``sorry`` at its end.
        name: Its name; the last theorem's if not given, since lemmas come before it.

    Returns:
        The preceding text, the theorem up to and with ``:=``, its name as written, and the text
        after the statement.

    Raises:
        UsageError: If there is no such theorem.
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
