"""Judges of texts whose own engine cannot be trusted.

An engine that has run a program of a text may report anything. So it exports the finished
declarations as data (``export`` of ``dojo.check``), and another engine elaborates the statement to
prove, from the reference alone, and gives the declarations to Lean's kernel (``dojo.judge``). If
the reference contains programs as well, a third engine does the latter, which elaborates nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from lean_dojo_v2.lean.errors import RequestError

ServerT = TypeVar("ServerT", bound=Any)
"""The client's ``Server``, which makes its judge."""

RECYCLE_MB = 2_600
"""Resident megabytes at which the judge is replaced before it judges."""
_REFUSED = frozenset({"export", "import"})
"""Errors of ``dojo.judge`` about the export itself."""


class Judge(Generic[ServerT]):
    """One engine, or two, started when first needed; safe to use from several threads.

    ``make`` makes a server with the judged engine's configuration, except as its arguments say.
    """

    def __init__(self, make: Callable[..., ServerT]) -> None:
        self._kernel = make(imports=("Init",), project_path=None, options=None, core_options=())
        self._reader = make()
        self._using = threading.Lock()

    @contextmanager
    def reader(self, owner: str, session: ServerT) -> Iterator[ServerT]:
        """Yield an engine for the reference, which has run no program except its owner's.

        It also has the definitions that are loaded in ``session``.
        """
        with self._using:
            self._reader.load_as(session)
            self._reader.begin(owner)
            yield self._reader

    def judge(self, export: Mapping[str, Any], timeout: float | None) -> dict[str, Any] | str:
        """Let the kernel judge an export.

        Returns:
            The descriptions of its theorems, as in an answer of ``dojo.check``; or what is wrong
            with the export itself.

        Raises:
            EngineLostError: The judge was lost or the time was up, so there is no verdict.
            RequestError: The judge refuses, so there is no verdict.
        """
        with self._using:
            engine = self._kernel if self._reader.tainted else self._reader
            if engine.memory_mb > RECYCLE_MB:
                engine.close()
            try:
                answer = engine.ask("dojo.judge", {"export": export}, timeout)
            except RequestError as error:
                if error.code in _REFUSED:
                    return str(error)
                raise
        return dict(answer["declarations"])

    def close(self) -> None:
        """Stop its engines; the next call starts others."""
        self._kernel.close()
        self._reader.close()
