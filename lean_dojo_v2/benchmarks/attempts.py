"""The folder of a benchmark run: its settings, and one line per attempt."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import attrs
import orjson

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.errors import UnreadableFileError
from lean_dojo_v2.files import append_lines, atomic_write_bytes, read_json, read_records
from lean_dojo_v2.prover import Failure, SearchResult

RUN_FILE = "run.json"
"""Name of the file in a run's folder that describes the run."""
PASSING = frozenset({Failure.ENGINE, Failure.GENERATOR})
"""Failures that are not the prover's: such attempts are repeated when the run is resumed."""


@attrs.frozen
class Attempt(SearchResult):
    """One attempt at one theorem: the result of its search, without the tree.

    Attributes:
        number: Number of the attempt, from 0.
        group: The benchmark's split, if any.
    """

    number: int = 0
    group: str | None = None

    @classmethod
    def of(cls, name: str, number: int, group: str | None, result: SearchResult) -> Self:
        """Make an attempt from a search result, without its tactics, which its proof contains."""
        found = attrs.asdict(result, recurse=False)
        changed = {"name": name, "tactics": None, "seconds": round(result.seconds, 2), "tree": None}
        return cls(**{**found, **changed}, number=number, group=group)

    @property
    def counts(self) -> bool:
        """Whether it counts: no engine or endpoint failed."""
        return self.reason not in PASSING

    def to_dict(self) -> dict[str, Any]:
        """Return the attempt as a line of the folder."""
        return {key: value for key, value in super().to_dict().items() if key != "tactics"}


@attrs.frozen
class AttemptFolder:
    """The folder of a run; it is made when something is written."""

    path: Path

    def begin(self, request: Mapping[str, Any]) -> None:
        """Record all that determines the results; ``UsageError`` if the folder has another run."""
        wanted = orjson.loads(orjson.dumps(request))
        if (self.path / RUN_FILE).exists():
            if changed := differences(self.request(), wanted):
                told = (f"{key} was {was} and is {now}" for key, (was, now) in changed.items())
                raise UsageError(
                    f"{self.path} holds a run with other settings: {', '.join(told)}; name another "
                    "folder with -o, or remove this one"
                )
        else:
            content = orjson.dumps(wanted, option=orjson.OPT_INDENT_2)
            atomic_write_bytes(self.path / RUN_FILE, content)

    def request(self) -> dict[str, Any]:
        """Return the recorded request; ``DataError`` if the folder holds no run."""
        file = self.path / RUN_FILE
        if not file.is_file():
            what = f"is not a run of `lean-dojo bench`: it has no {RUN_FILE}"
            raise UnreadableFileError(what, path=self.path)
        found = read_json(file)
        if not isinstance(found, dict):
            raise DataError("is not a run of `lean-dojo bench`", path=file)
        return found

    def append(self, who: str, attempt: Attempt) -> None:
        """Append an attempt to the file ``who``, such as ``"prover"``, and force it to disk."""
        append_lines(self._file(who), [attempt.to_dict()])

    def attempts(self, who: str) -> list[Attempt]:
        """Read the attempts that count, of repeated ones the last; ``DataError`` for a bad line."""
        return [one for one in self._latest(who) if one.counts]

    def failed(self, who: str) -> list[Attempt]:
        """Read the attempts in which an engine or endpoint failed, and that were not repeated."""
        return [one for one in self._latest(who) if not one.counts]

    def _file(self, who: str) -> Path:
        return self.path / f"{who}.jsonl"

    def _latest(self, who: str) -> Iterable[Attempt]:
        read = read_records(self._file(who), Attempt, "an attempt")
        return {(one.name, one.number): one for one in read}.values()


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Compare two requests of :meth:`AttemptFolder.request`: both values of each difference.

    They are by dotted names in order; ``None`` stands for a missing one.

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
