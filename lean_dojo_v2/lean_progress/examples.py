"""Examples of LeanProgress: a state, the tactics so far, a candidate tactic, the steps after it.

Huang, Song, George, Anandkumar, "LeanProgress: Guiding search for neural theorem proving via proof
progress prediction" (2025, arXiv:2502.17925), finds that the tactics so far matter (mean absolute
error 3.15 with them, 5.22 without), so examples from traced proofs always carry them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self

import attrs

from lean_dojo_core.errors import DataError
from lean_dojo_core.records import NO_GOALS, Theorem, TracedTactic, contains_sorry, remove_marks
from lean_dojo_v2.data import one_line
from lean_dojo_v2.database import split_of
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import parse_json, write_lines

_POINTS = re.compile(r"·|\.\s|\{|case'?\s|next\b|focus\b")
"""Begins a block of tactics that only focuses a goal."""


@attrs.frozen
class ProgressExample:
    """One line of a LeanProgress dataset.

    Attributes:
        goal: The state before the candidate tactic.
        tactic: The candidate tactic.
        steps_remaining: Tactics left to the end of the proof after it; 0 for the last one.
        prefix: The tactics so far, one a line.
        theorem: The theorem it comes from, if known; a proof is never split between training and
            evaluation.
    """

    goal: str
    tactic: str
    steps_remaining: float
    prefix: str = ""
    theorem: str = ""

    @property
    def text(self) -> str:
        """The model's input."""
        return progress_text(self.goal, self.prefix, self.tactic)

    @property
    def label(self) -> float:
        """The steps that remain."""
        return float(self.steps_remaining)

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read a line's JSON object.

        Raises:
            TypeError: If it is malformed.
            ValueError: For an invalid number of steps.
        """
        for key in ("goal", "tactic"):
            if not isinstance(row.get(key), str):
                raise TypeError(f"{key!r} is required and must be a text")
        steps = row.get("steps_remaining")
        if isinstance(steps, bool) or not isinstance(steps, (int, float)) or steps < 0:
            raise ValueError(
                f"'steps_remaining' is required and must be a number of at least 0, not {steps!r}"
            )
        prefix, theorem = row.get("prefix"), row.get("theorem")
        if not isinstance(prefix, str | None):
            raise TypeError("'prefix' must be a text or null")
        return cls(row["goal"], row["tactic"], steps, prefix or "", str(theorem or ""))

    def to_dict(self) -> dict[str, Any]:
        """Return the line's JSON object; an unknown theorem is left out."""
        return attrs.asdict(self, filter=lambda a, value: a.name != "theorem" or bool(value))


def progress_text(goal: str, prefix: str, tactic: str) -> str:
    r"""Join the three parts into the model's input.

    >>> progress_text("⊢ n + 0 = n", "intro n", "rfl")
    'Goal:\n⊢ n + 0 = n\n\nPrefix:\nintro n\n\nCandidate tactic:\nrfl'
    """
    return f"Goal:\n{goal}\n\nPrefix:\n{prefix}\n\nCandidate tactic:\n{tactic}"


def examples_of(theorem: Theorem) -> Iterator[ProgressExample]:
    """Yield one example for every step of a finished proof; none for a proof with ``sorry``.

    Steps are those of a search, see :func:`steps_of`, in its form: a multi-line step becomes one
    line, without inner proofs. Steps with unknown goals, as in a proof recorded as text, only
    count.
    """
    if any(contains_sorry(traced.tactic) for traced in theorem.traced_tactics):
        return
    steps = steps_of(theorem.traced_tactics)
    written = [remove_marks(traced.tactic).strip() for traced in steps]
    tactics = [one_line(tactic) or tactic for tactic in written]  # as a search would write it
    for index, (tactic, traced) in enumerate(zip(tactics, steps, strict=True)):
        if traced.state_before in {"", NO_GOALS}:  # a recorded proof may have no goals
            continue
        yield ProgressExample(
            goal=remove_marks(traced.state_before),
            tactic=tactic,
            steps_remaining=len(tactics) - index - 1,
            prefix="\n".join(tactics[:index]),
            theorem=f"{theorem.url}:{theorem.file_path}:{theorem.full_name}",
        )


def training_examples(repositories: Iterable[Any]) -> Iterator[ProgressExample]:
    """Yield the examples of the repositories' finished proofs, except for held-out theorems.

    A model that has seen held-out proofs would guide the search to them.
    """
    for repository in repositories:
        for theorem in repository.iter_theorems():
            if split_of(theorem) == "train":
                yield from examples_of(theorem)


def steps_of(tactics: Sequence[TracedTactic]) -> list[TracedTactic]:
    """Keep the tactics that a search would take as steps.

    Traces contain tactics within tactics, which would count twice. A block that only focuses a goal
    (``· exact h``, ``case zero => simp``) is replaced by its tactics; the parts of any other line
    (``simp <;> omega``) are dropped. A multi-line tactic (``induction n with …``) and its inner
    tactics are all steps, and so are all tactics without positions.
    """
    kept: list[TracedTactic] = []
    line: TracedTactic | None = None  # a kept one-line tactic, whose parts are not steps
    for tactic in sorted(tactics, key=_place):
        if line is not None and _contains(line, tactic):
            continue
        focuses = _POINTS.match(remove_marks(tactic.tactic).strip()) is not None
        if focuses and any(_contains(tactic, other) for other in tactics):
            continue
        kept.append(tactic)
        line = None if "\n" in tactic.tactic.strip() else tactic
    return kept


def _place(tactic: TracedTactic) -> tuple[int, int, int, int]:
    """Order by position, outer before inner; in the given order without positions."""
    if tactic.start is None or tactic.end is None:
        return (0, 0, 0, 0)
    return (*tactic.start, -tactic.end[0], -tactic.end[1])


def _contains(outer: TracedTactic, inner: TracedTactic) -> bool:
    if outer.start is None or outer.end is None or inner.start is None or inner.end is None:
        return False
    around = outer.start <= inner.start and inner.end <= outer.end
    return around and (outer.start, outer.end) != (inner.start, inner.end)


def read_examples(path: Path | str) -> Iterator[ProgressExample]:
    """Read a JSONL dataset; a missing file or a bad line, with its number, is a ``DataError``."""
    file = Path(path)
    try:
        stream = file.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file) from error
    with stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                try:
                    yield _parse(line)
                except (TypeError, ValueError) as error:
                    place = f"line {number}"
                    raise DataError(str(error), path=file, place=place) from error


def _parse(line: bytes) -> ProgressExample:
    try:
        data = parse_json(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise TypeError(f"is a {type(data).__name__}, not an object")
    return ProgressExample.read(data)


def write_examples(
    path: Path | str, examples: Iterable[ProgressExample], *, source: Path | str | None = None
) -> int:
    """Write a JSONL dataset in one step, and return the number of examples.

    None are an ``EmptyDatasetError``, which names their ``source``; the file is then unchanged.
    """
    rows = (example.to_dict() for example in examples)
    if (first := next(rows, None)) is None:
        raise EmptyDatasetError(
            "no theorem of the training split has a finished proof with tactics", path=source
        )
    return write_lines(path, chain([first], rows))
