"""Benchmarks in a single JSONL file, in the forms of miniF2F and of other public sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.json_text import parse_json
from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.lean.text.lexer import code_tokens, without_end
from lean_dojo_v2.lean.text.statement import split_statement
from lean_dojo_v2.paths import read_named

STATEMENTS = ("formal_statement", "refined_statement", "full_proof")
"""Keys that public sets use for the Lean text of a theorem, in the order of trying them."""


@attrs.frozen
class JsonlBenchmark:
    """Theorems of a file in the form of a public set: one JSON object per line.

    Keys: ``formal_statement`` (or ``refined_statement``, ``full_proof``), the Lean text of the
    theorem, with or without ``:= by`` and ``sorry`` at its end, perhaps after imports and lemmas;
    ``name`` (optional if the text names one theorem); ``header`` (optional), what comes before it,
    such as ``import Mathlib``; ``split`` (optional). Other keys are passed over. These are the
    columns of miniF2F (Zheng et al. 2022, arXiv:2109.00110), DeepSeek-Prover-V1, NuminaMath-LEAN,
    Kimina-Prover-Promptset, Goedel-Pset, Lean-Workbook, FormalMATH and Herald.

    Attributes:
        file: The file.
        project: Folder of a built Lean project that has what the headers import, such as Mathlib.
        split: Take this split alone.
    """

    file: Path = attrs.field(converter=Path)
    project: Path | None = None
    split: str | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.stem

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the file.

        Raises:
            UnreadableFileError: If there is no such file, or a line is not such an object, or its
                statement no theorem, or two theorems have one name.
        """
        found = [
            self._problem(line, number)
            # Not str.splitlines(): a JSON text may hold U+2028.
            for number, line in enumerate(read_named(self.file).split(b"\n"), 1)
            if line.strip()
        ]
        chosen = [problem for problem in found if self.split in {None, problem.split}]
        names = Counter(problem.full_name for problem in chosen)
        if twice := [name for name, count in names.items() if count > 1]:
            message = f"has several theorems called {twice[0]!r}; results are counted by name"
            raise UnreadableFileError(message, path=self.file)
        return chosen

    def _problem(self, line: bytes, number: int) -> BenchmarkProblem:
        try:
            item = parse_json(line)
        except ValueError as error:
            raise self._error(f"is not JSON: {error}", number) from error
        if not isinstance(item, dict):
            raise self._error("is not a JSON object", number)
        try:
            return problem_from(item, self.project)
        except UsageError as error:
            raise self._error(str(error), number) from error

    def _error(self, message: str, number: int) -> UnreadableFileError:
        return UnreadableFileError(message, path=self.file, place=f"line {number}")


def problem_from(item: Mapping[str, Any], project: Path | None = None) -> BenchmarkProblem:
    """Read one theorem of a public set.

    Args:
        item: A line's object, see :class:`JsonlBenchmark`. A name that is an identifier of the set
            and not that of a theorem of the text (``uuid``) is passed over.
        project: Folder of a built Lean project that has what the header imports.

    Raises:
        UsageError: If it is none.
    """
    key = next((key for key in STATEMENTS if item.get(key)), STATEMENTS[0])
    text = _text(item, key)
    name = _text(item, "name") if "name" in item else None
    try:
        before, statement, found = split_theorem(text, name)
    except UsageError as error:
        raise UsageError(f"{key!r} {error}") from error
    header = item.get("header") or ""  # Lean's core alone
    if parse_header(before).imports and isinstance(header, str):
        header = ""  # a text with imports of its own is complete
    split = item.get("split")
    if not isinstance(header, str) or not isinstance(split, str | None):
        raise UsageError("'header' and 'split' must be texts")
    return BenchmarkProblem(
        full_name=name or found,
        statement=statement,
        header=f"{header.rstrip()}\n\n{before}" if header or before else "",
        project=project,
        split=split,
    )


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"has no text {key!r}")
    return value


def split_theorem(text: str, name: str | None = None) -> tuple[str, str, str]:
    """Split a theorem's text into what comes before it, and its statement.

    Args:
        text: The theorem, with or without ``:= by`` and ``sorry`` at its end.
        name: Its name; the last theorem's if not given, since lemmas come before it.

    Returns:
        What comes before it, the theorem up to and with ``:=``, and its name as written.

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
    return text[: word.start], f"{without_end(text[word.start : end])} :=", following.text
