"""Benchmarks that are one JSONL file, as miniF2F and its like are passed around."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.lean.text.statement import split_statement

HEADER = ""
"""What stands before a statement whose line brings no header: Lean's core alone."""


@attrs.frozen
class JsonlBenchmark:
    """Theorems of a file in miniF2F's form: one JSON object a line.

    Keys: ``name``; ``formal_statement``, the Lean text of the theorem, with or without ``:= by``
    and ``sorry`` at its end; ``header`` (optional), what comes before it, such as
    ``import Mathlib``; ``split`` (optional). Other keys are passed over. Zheng et al. 2022,
    "miniF2F" (arXiv:2109.00110).

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
        """Give the theorems in the order of the file.

        Raises:
            UsageError: If there is no such file.
            DataError: If a line is not such an object, or its statement no theorem.
        """
        if not self.file.is_file():
            raise UsageError(f"{self.file}: there is no such file")
        found = [
            self._problem(line, number)
            # Not str.splitlines(): a JSON text may hold U+2028.
            for number, line in enumerate(self.file.read_bytes().split(b"\n"), 1)
            if line.strip()
        ]
        return [problem for problem in found if self.split in {None, problem.split}]

    def _problem(self, line: bytes, number: int) -> BenchmarkProblem:
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise self._error(f"is not JSON: {error}", number) from error
        if not isinstance(item, dict):
            raise self._error("is no JSON object", number)
        text = self._text(item, "formal_statement", number)
        name = self._text(item, "name", number)
        before, statement = self._split(text, name, number)
        header = item.get("header") or HEADER
        split = item.get("split")
        if not isinstance(header, str) or not isinstance(split, str | None):
            raise self._error("'header' and 'split' must be texts", number)
        return BenchmarkProblem(
            full_name=name,
            statement=statement,
            header=f"{header.rstrip()}\n\n{before}" if header or before else "",
            project=self.project,
            split=split,
        )

    def _text(self, item: dict[str, Any], key: str, number: int) -> str:
        value = item.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._error(f"has no text {key!r}", number)
        return value

    def _split(self, text: str, name: str, number: int) -> tuple[str, str]:
        """Split a statement's text into what comes before the theorem, and it up to ``:=``."""
        last = name.rpartition(".")[2]
        tokens = list(code_tokens(text))
        for word, following in pairwise(tokens):
            if word.text in {"theorem", "lemma"} and following.text.rpartition(".")[2] == last:
                found = split_statement(text, following.end)
                end = len(text.rstrip()) if found is None else found[0]
                return text[: word.start], f"{text[word.start : end].rstrip()} :="
        raise self._error(f"'formal_statement' has no theorem called {name!r}", number)

    def _error(self, message: str, number: int) -> DataError:
        return DataError(message, path=self.file, place=f"line {number}")
