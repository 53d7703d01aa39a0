"""Examples: every tactic with the premises it uses."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import attrs

from lean_dojo_core import DatasetFormatter, Theorem
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Mask, Visibility, pack_position

log = logging.getLogger(__name__)


@attrs.frozen(eq=False)
class Example:
    """A tactic that uses at least one premise of the corpus.

    Attributes:
        state: The goal state before it: the query.
        file: The file of its theorem.
        before: Packed start of the theorem; premises that end before it are accessible.
        positives: The premises that it uses, sorted and unique.
    """

    state: str
    file: int
    before: int
    positives: tuple[int, ...]

    def usable(self, visibility: Visibility) -> Mask:
        """Return for each premise whether the theorem may use it: ``bool[P]``."""
        return visibility.mask(self.file, self.before)


def make_examples(
    theorems: Iterable[Theorem],
    corpus: Corpus,
    formatter: DatasetFormatter,
    *,
    source: Path | str = "theorems",
) -> list[Example]:
    """Collect the examples of theorems; items outside the corpus are counted and logged.

    Args:
        theorems: The theorems, such as those of a split file.
        corpus: Corpus of their premises.
        formatter: Gives the columns ``state`` and ``premises``.
        source: Where the theorems are from, for messages.

    Raises:
        DataError: If the formatter lacks a column.
    """
    examples: list[Example] = []
    lost = 0
    unknown_files: set[str] = set()
    for theorem in theorems:
        file = corpus.file_number(theorem.file_path)
        if file is None:
            unknown_files.add(theorem.file_path)
            continue
        before = pack_position(theorem.start)
        for row in formatter.rows(theorem):
            if not {"state", "premises"} <= row.keys():
                raise DataError(
                    f"the formatter {type(formatter).__name__} gives the columns "
                    f"{', '.join(row)}; retrieval needs 'state' and 'premises'"
                )
            found = [
                corpus.locate(one["def_path"], one["def_pos"], one["full_name"])
                for one in row["premises"]
            ]
            lost += found.count(None)
            if positives := sorted({number for number in found if number is not None}):
                examples.append(Example(row["state"], file, before, tuple(positives)))
    if unknown_files:
        log.warning(
            "%s: theorems of %d file(s) that the corpus lacks were left out, for example %s",
            source,
            len(unknown_files),
            min(unknown_files),
        )
    if lost:
        log.info("%s: %d premise(s) are not in the corpus and were left out", source, lost)
    return examples
