"""The folder of a benchmark run: its settings, and one line per attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.runs.files import append_lines, read_records

RUN_FILE = "run.json"
PASSING = frozenset({Failure.ENGINE, Failure.GENERATOR})
"""What is no verdict on the prover: such an attempt is made again when the run is started again."""


@attrs.frozen
class Attempt:
    """One attempt at one theorem.

    Attributes:
        name: The theorem.
        number: Which attempt, from 0.
        group: The split that the benchmark puts it in; ``None`` for none.
        success: Whether Lean confirmed a proof.
        proof: The proof.
        reason: Why there is none.
        detail: One sentence about it.
        expansions: States expanded.
        samples: Tactics suggested, or proofs written.
        lean_calls: Questions to Lean, counted as in :class:`.SearchResult`.
        refused_proofs: Finished-looking proofs that full verification refused.
        ended_by_clock: How often a limit in seconds ended something.
        seconds: Time spent.
    """

    name: str
    number: int
    group: str | None
    success: bool
    proof: str | None
    reason: str | None
    detail: str
    expansions: int
    samples: int
    lean_calls: int
    refused_proofs: int
    ended_by_clock: int
    seconds: float

    @classmethod
    def of(cls, name: str, number: int, group: str | None, result: SearchResult) -> Attempt:
        """Make an attempt from a search result."""
        return cls(
            name=name,
            number=number,
            group=group,
            success=result.success,
            proof=result.proof,
            reason=None if result.reason is None else str(result.reason),
            detail=result.detail,
            expansions=result.expansions,
            samples=result.samples,
            lean_calls=result.lean_calls,
            refused_proofs=result.refused_proofs,
            ended_by_clock=result.ended_by_clock,
            seconds=round(result.seconds, 2),
        )

    @property
    def counts(self) -> bool:
        """Whether it tells about the prover, not about an engine or endpoint that failed."""
        return self.reason not in PASSING


class AttemptFolder:
    """The folder of a run.

    Args:
        path: The folder; it is made when something is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, asked: Mapping[str, Any]) -> None:
        """Record the request, or check that it is the same as before.

        Args:
            asked: What decides about the results, as plain data.

        Raises:
            UsageError: If another run lies there.
        """
        wanted = orjson.loads(orjson.dumps(asked))
        if (self.path / RUN_FILE).exists():
            if changed := differences(self.asked(), wanted):
                told = (f"{key} was {was} and is {now}" for key, (was, now) in changed.items())
                raise UsageError(
                    f"{self.path} holds a run with other settings: {', '.join(told)}; name another "
                    "folder with -o, or remove this one"
                )
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            content = orjson.dumps(wanted, option=orjson.OPT_INDENT_2)
            atomic_write_bytes(self.path / RUN_FILE, content)

    def asked(self) -> dict[str, Any]:
        """Return what was asked.

        Raises:
            DataError: If no run lies there.
        """
        file = self.path / RUN_FILE
        if not file.is_file():
            what = f"is not a run of `lean-dojo bench`: it has no {RUN_FILE}"
            raise UnreadableFileError(what, path=self.path)
        try:
            found = orjson.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(f"is not a run of `lean-dojo bench`: {error}", path=file) from error
        if not isinstance(found, dict):
            raise DataError("is not a run of `lean-dojo bench`", path=file)
        return found

    def append(self, who: str, attempt: Attempt) -> None:
        """Append an attempt safely, so that a kill right after it loses nothing.

        Args:
            who: Whose attempt: the name of its file, for example ``"prover"``.
            attempt: The attempt.
        """
        append_lines(self._file(who), [attrs.asdict(attempt)])

    def attempts(self, who: str) -> list[Attempt]:
        """Read the attempts that count; if one was made twice, the last.

        Raises:
            DataError: If a line is something else.
        """
        return [one for one in self._latest(who) if one.counts]

    def failed(self, who: str) -> list[Attempt]:
        """Read the attempts in which an engine or endpoint failed, and that were not repeated."""
        return [one for one in self._latest(who) if not one.counts]

    def _file(self, who: str) -> Path:
        return self.path / f"{who}.jsonl"

    def _latest(self, who: str) -> Iterable[Attempt]:
        file = self._file(who)
        read = read_records(file, Attempt, "an attempt") if file.exists() else ()
        return {(one.name, one.number): one for one in read}.values()


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Compare two requests as :meth:`AttemptFolder.asked` gives them.

    Returns:
        The values of what differs, by dotted names in order; ``None`` stands for a missing one.

    >>> differences({"limits": {"samples": 4, "seconds": 9}}, {"limits": {"samples": 8}})
    {'limits.samples': (4, 8), 'limits.seconds': (9, None)}
    """
    found: dict[str, tuple[Any, Any]] = {}
    for key in sorted(first.keys() | second.keys()):
        was, now = first.get(key), second.get(key)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            found.update({f"{key}.{name}": pair for name, pair in differences(was, now).items()})
        elif was != now:
            found[key] = (was, now)
    return found
