"""Who says yes: an engine that elaborates nothing, and one that reads references only.

An engine that has elaborated a text may report anything: the text's programs ran in it. So it hands
over what its constants depend on as data, an :class:`Export`, and a *judge* gives that to Lean's
kernel on top of the library (``dojo.judge``). What was to be proved is exported in the same way, by
a *reader*, which elaborates the reference and nothing else.
"""

import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

import attrs
import orjson

from lean_dojo_v2.lean.engines.process import inherited
from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.messages import LeanMessage

Server: TypeAlias = Any
"""The client's ``Server``, which makes its judge."""

RECYCLE_MB = 2_600
"""Resident megabytes at which the judge is replaced before it judges."""
IDLE_JUDGEMENTS = 64
"""After so many judgements without a new reference the reader is stopped until it is needed."""
_REFUSED = frozenset({"export", "import"})
"""Errors of ``dojo.judge`` about the export itself."""
_UNKNOWN = "context"
"""The error of ``dojo.judge`` that it has not had a declaration of the context."""


@attrs.frozen
class Export:
    """What constants of a text depend on beyond the library; nobody trusts it.

    The ``context`` is the declarations that it began with as JSON; ``docs/engines.md`` says more.
    """

    context: tuple[bytes, ...]
    rest: Mapping[str, Any]


@attrs.frozen
class ElaboratedText:
    """An engine's report on a text (``dojo.check``), and what the judge needs to see itself."""

    said: Mapping[str, Any]
    export: Export = attrs.field(repr=False)


def read_elaborated(answer: dict[str, Any], known: dict[int, bytes]) -> ElaboratedText:
    """Read an answer of ``dojo.check``; ``known`` has the rows that the engine numbered before."""
    export = dict(answer.pop("export"))
    context = []
    for entry in export.pop("context"):
        if not isinstance(entry, int):
            number, row = entry
            _require(number, int)
            known[number] = orjson.dumps(row)
            entry = number  # noqa: PLW2901 - from now on it is known
        context.append(known[entry])
    return ElaboratedText(_said(answer), Export(tuple(context), export))


def _said(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a report in their proper form: a program may have written anything."""
    for message in LeanMessage.parse_all(answer["messages"]):
        _require(message.data, str)
    for record in answer["declarations"].values():
        _require(record.get("kind", ""), str)
        for number in record.get("start", [1, 1]):
            _require(number, int)
        _, _ = record.get("start", [1, 1])
    for constant in answer["new_constants"]:
        _require(constant["name"], str)
        _require(constant["kind"], str)
    _require(answer["sources"], str)
    return answer


def _require(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")


class Judge:
    """A judge and a reader, started when first needed; safe to use from several threads.

    ``make`` makes a server for each, not started yet: for the judge one that has the library which
    the judged engine has, for the reader one with its whole configuration.
    """

    def __init__(self, make: Callable[[], tuple[Server, Server]]) -> None:
        self._make = make
        self._made: tuple[Server, Server] | None = None
        self._keys: dict[bytes, int] = {}
        self._held: set[int] = set()
        self._idle = 0
        self._forget()
        inherited.add(self)

    def _forget(self) -> None:
        self._making = threading.Lock()
        self._judging = threading.Lock()
        self._reading = threading.Lock()

    def _servers(self) -> tuple[Server, Server]:
        """Return the judge's and the reader's."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def start(self) -> None:
        """Start both engines now, not at the first call."""
        for server in reversed(self._servers()):
            server.stat()

    def read(
        self, owner: str, session: Server, fields: Mapping[str, Any], timeout: float
    ) -> ElaboratedText:
        """Elaborate a reference (``dojo.check``) where only its owner's references have been.

        It sees the definitions that are loaded in ``session``. It raises what ``Server.ask`` does.
        """
        _, reader = self._servers()
        with self._reading:
            self._idle = 0
            reader.load_as(session)
            # the readers of a pool's clients are one engine, and a statement may run programs, too
            reader.begin(f"{owner}, for {session.client}")
            report: ElaboratedText = reader.check(fields, timeout)
            return report

    def judge(self, export: Export, timeout: float | None) -> dict[str, Any] | str:
        """Let the kernel judge an export: describe its constants, or say what is wrong with it.

        If the judge is lost or refuses, or the time is up, it raises: there is no verdict.
        """
        with self._judging:
            try:
                answer = self._ask(export, timeout)
            except RequestError as error:
                if error.code in _REFUSED:
                    return str(error)
                raise
        self._rest_reader()
        return dict(answer["declarations"])

    def close(self) -> None:
        """Stop its engines; the next call starts others."""
        for server in self._made or ():
            server.close()

    def _ask(self, export: Export, timeout: float | None) -> Mapping[str, Any]:
        """Ask the judge, which has each declaration of a context sent to it once."""
        kernel, _ = self._servers()
        if kernel.memory_mb > RECYCLE_MB:
            kernel.close()
        keys = [
            self._keys.setdefault(sha256(row).digest(), len(self._keys)) for row in export.context
        ]
        context = [
            key if key in self._held else [key, orjson.Fragment(row)]
            for key, row in zip(keys, export.context, strict=True)
        ]
        fields = {"export": {**export.rest, "context": context}}
        try:
            answer: Mapping[str, Any] = kernel.ask("dojo.judge", fields, timeout)
        except RequestError as error:
            if error.code != _UNKNOWN or not self._held:
                raise
            self._held.clear()  # it is another process by now, and has had none of them
            return self._ask(export, timeout)
        self._held.update(keys)
        return answer

    def _rest_reader(self) -> None:
        self._idle += 1
        if self._idle >= IDLE_JUDGEMENTS and self._reading.acquire(blocking=False):
            try:
                self._servers()[1].close()
            finally:
                self._reading.release()
