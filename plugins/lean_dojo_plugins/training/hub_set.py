"""Sets of statements from the Hugging Face hub."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks import Statement, columns_of, problems_or_raise, statement_from
from lean_dojo_v2.database import HELD_OUT_SPLITS


@attrs.frozen
class HubBenchmark:
    """Theorems of a data set of the Hugging Face hub, or of a folder that `datasets` can load.

    Its columns are those that :class:`.JsonlBenchmark` reads.

    Attributes:
        dataset: ``OWNER/NAME`` or ``OWNER/NAME:SPLIT``; a folder's path in the place of the name.
            Without a split it is ``train``, or the only one.
        config: The configuration of a data set that has several.
        project: Folder of a built Lean project that has what the headers import, such as Mathlib.
        split: Only this split, by the column ``split`` or else the data set's own.
        columns: Other names of ``statement``, ``name``, ``header`` and ``split``.
    """

    dataset: str
    config: str | None = None
    project: Path | None = attrs.field(default=None, converter=attrs.converters.optional(Path))
    split: str | None = None
    columns: Mapping[str, str] = attrs.field(factory=dict, converter=columns_of)

    @property
    def name(self) -> str:
        """The data set's name without its owner."""
        return Path(self._source[0]).name

    def problems(self) -> list[BenchmarkProblem]:
        """Return the theorems in the order of the data set.

        UsageError if there is none, a row is not a theorem, or two theorems share a name.
        """
        return problems_or_raise(self.statements(), self.dataset)

    def statements(self) -> Iterator[Statement | UsageError]:
        """Yield each row's theorem, or what is wrong with the row."""
        found = self._loaded()
        only = next(iter(found)) if len(found) == 1 else "train"
        part = self._source[1] or ("train" if "train" in found else only)
        if part not in found:
            there = ", ".join(found)
            raise UsageError(f"hub:{self.dataset} has no split {part!r}; it has {there}")
        for row in self._read(part, found[part]):
            if isinstance(row, UsageError) or self.split in {None, row.problem.split}:
                yield row

    def held_out(self) -> Iterator[Statement | UsageError]:
        """Yield the same for its held-out splits."""
        for part, rows in self._loaded().items():
            if part in HELD_OUT_SPLITS:
                yield from self._read(part, rows)

    def _read(self, part: str, rows: Any) -> Iterator[Statement | UsageError]:
        for number, row in enumerate(rows):
            try:
                found = statement_from(row, self.project, self.columns)
            except UsageError as error:
                yield UsageError(f"{self.dataset}, row {number}: {error}")
                continue
            if found.problem.split is None:
                found = attrs.evolve(found, problem=attrs.evolve(found.problem, split=part))
            yield found

    @property
    def _source(self) -> tuple[str, str]:
        name, _, part = self.dataset.partition(":")
        return name, part

    def _loaded(self) -> Mapping[str, Any]:
        """Load the data set: its splits, each with its rows."""
        import datasets

        try:
            return dict(datasets.load_dataset(self._source[0], self.config))
        except Exception as error:  # of its network, its files, its loader
            raise UsageError(f"hub:{self.dataset}: {type(error).__name__}: {error}") from error
