"""Examples of retrieval: every tactic with the premises it uses, as rows and by number."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from lean_dojo_core import DatasetFormatter, Message, Row, Theorem, remove_marks
from lean_dojo_core.errors import DataError
from lean_dojo_core.records import NO_GOALS
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position

log = logging.getLogger(__name__)


class PremisePairs:
    """One row per tactic: the state before it (the query) and the premises of the tactic.

    ``premises`` is a list of ``{full_name, def_path, def_pos}``, each premise once, empty if the
    tactic uses none.

    >>> from lean_dojo_core import Annotation, TracedTactic
    >>> use = Annotation("Nat.add_comm", "Nat.lean", (3, 9), (3, 17))
    >>> tactic = TracedTactic("rw [Nat.add_comm]", "⊢ a + b = b + a", "no goals", premises=(use,))
    >>> theorem = Theorem("t", "T.lean", (1, 1), (2, 1), "u", "c", traced_tactics=(tactic,))
    >>> [row["premises"] for row in PremisePairs().rows(theorem)]
    [[{'full_name': 'Nat.add_comm', 'def_path': 'Nat.lean', 'def_pos': (3, 9)}]]
    """

    columns: tuple[str, ...] = ("state", "tactic", "premises")

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield one row per tactic that has a goal before it."""
        for tactic in theorem.traced_tactics:
            if tactic.state_before.strip() in {"", NO_GOALS}:
                continue
            unique = dict.fromkeys((p.full_name, p.def_path, p.def_pos) for p in tactic.premises)
            yield {
                "state": remove_marks(tactic.state_before),
                "tactic": tactic.tactic,
                "premises": [
                    {"full_name": name, "def_path": path, "def_pos": position}
                    for name, path, position in unique
                ],
            }

    def prompt(
        self,
        goal: str,
        *,
        premises: Sequence[str] = (),  # noqa: ARG002 - the protocol's signature
    ) -> list[Message]:
        """Return the query of a goal: the state itself, as one user turn."""
        return [{"role": "user", "content": remove_marks(goal)}]


@attrs.frozen(eq=False)
class Example:
    """A tactic that uses at least one premise of the corpus."""

    state: str
    file: int
    before: int  # packed start of the theorem; premises that end before it are accessible
    positives: tuple[int, ...]


def make_examples(
    theorems: Iterable[Theorem],
    corpus: Corpus,
    formatter: DatasetFormatter,
    *,
    source: Path | str = "theorems",
) -> list[Example]:
    """Collect the examples of theorems; items outside the corpus are counted and logged."""
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
