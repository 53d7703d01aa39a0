"""Who judges what a text's own engine can't be believed about.

An engine that has run a program of a text may say anything. So the finished declarations leave it
as data (``export`` of ``dojo.check``), and another one comes in: it elaborates the statement that
was to be proved, from the reference alone, and gives the declarations to Lean's kernel
(``dojo.judge``). Where the reference has programs as well, a third one does the latter, which
elaborates nothing at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

ServerT = TypeVar("ServerT", bound=Any)
"""The client's ``Server``, which makes its judge from itself."""

RECYCLE_MB = 2_600
"""Resident megabytes at which the judge is replaced before it judges."""
_REFUSED = frozenset({"export", "import"})
"""Errors of ``dojo.judge`` that say that the export is wrong, whoever made it."""


class Judge(Generic[ServerT]):
    """One engine, or two, started when first needed; safe to use from several threads.

    Args:
        make: Makes a server, not started yet; its keyword arguments are those of ``Server`` that
            differ from the configuration of the engine that is judged.
    """

    def __init__(self, make: Callable[..., ServerT]) -> None:
        self._kernel = make(imports=("Init",), project_path=None, options=None, core_options=())
        self._reader = make()
        self._using = threading.Lock()

    @contextmanager
    def reader(self, owner: str, session: ServerT) -> Iterator[ServerT]:
        """Give an engine for the reference, which has run no program but those of its owner.

        Args:
            owner: Whose reference it is, in a word of one's own; see ``Server.begin``.
            session: What it has loaded is loaded there as well.

        Raises:
            EngineLostError: The engine did not become ready.
        """
        with self._using:
            self._reader.load_as(session)
            self._reader.begin(owner)
            yield self._reader

    def judge(self, export: Mapping[str, Any], timeout: float | None) -> dict[str, Any] | str:
        """Have the kernel judge an export.

        Returns:
            The descriptions of its theorems, as in an answer of ``dojo.check``; or what is wrong
            with the export itself.

        Raises:
            EngineLostError: The judge was lost over it, or the time was up: there is no verdict.
            RequestError: The judge refuses to judge: there is no verdict.
        """
        with self._using:
            engine = self._kernel if self._reader.tainted else self._reader
            if engine.memory_mb > RECYCLE_MB:
                engine.close()
            answer = engine.run("dojo.judge", {"export": export}, timeout=timeout)
        if answer.get("error") in _REFUSED:
            return str(answer.get("desc"))
        engine.raise_error("dojo.judge", answer)
        found: dict[str, Any] = answer["declarations"]
        return found

    def close(self) -> None:
        """Stop its engines; the next call starts others."""
        self._kernel.close()
        self._reader.close()
