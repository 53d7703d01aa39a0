"""The engine behind a server: one process at a time, locked while it answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from lean_dojo_v2.lean.client.records import Session
from lean_dojo_v2.lean.engines.host import with_files
from lean_dojo_v2.lean.engines.process import EngineProcess, LaunchPlan
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    EngineProtocolError,
    RequestParseError,
)

_FATAL = "fatal"
"""What the embedded engine answers before it ends because its memory may be damaged."""


class Connection:
    """One engine process at a time, shared by threads; a forked child gets one of its own.

    Args:
        choose: Says how to start the engine; asked once, when that is first needed.
        start_timeout: Seconds that the engine may take to become ready.
        memory_limit_mb: Resident megabytes at which it is stopped.
        answer_limit: Bytes that one answer may have.

    Attributes:
        session: The life of the present process, which goal states belong to.
    """

    def __init__(
        self,
        choose: Callable[[], LaunchPlan],
        *,
        start_timeout: float,
        memory_limit_mb: int | None = None,
        answer_limit: int | None = None,
    ) -> None:
        self._choose = choose
        self._plan: LaunchPlan | None = None
        self._start_timeout = start_timeout
        self._memory_limit_mb = memory_limit_mb
        self._answer_limit = answer_limit
        self._retired = False
        self._forget_engine()

    def _forget_engine(self) -> None:
        self._owner = os.getpid()
        self._engine_lock = threading.RLock()
        self.process: EngineProcess | None = None
        self.session = Session()

    @property
    def plan(self) -> LaunchPlan:
        """How the engine is started.

        Raises:
            UsageError: There is no engine of the name that was asked for.
            EngineUnavailableError: No engine can serve this.
        """
        if self._plan is None:
            self._plan = self._choose()
        return self._plan

    @property
    def planned(self) -> LaunchPlan | None:
        """The plan, if it was asked for already."""
        return self._plan

    @property
    def alive(self) -> bool:
        """Whether the engine runs."""
        process = self.process
        return process is not None and process.alive

    @property
    def lock(self) -> threading.RLock:
        """The lock of the engine; a forked child gets a lock and an engine of its own."""
        if self._owner != os.getpid():
            self._adopt()
        return self._engine_lock

    def open(self) -> None:
        """Start a fresh engine, stopping the one that runs.

        Raises:
            EngineDiedError: The connection is closed for good.
            EngineLostError: The engine did not become ready.
        """
        self.close()
        if self._retired:
            raise EngineDiedError("This server is closed for good.")
        self.session = Session()
        self.process = EngineProcess(
            self.plan,
            start_timeout=self._start_timeout,
            memory_limit_mb=self._memory_limit_mb,
            answer_limit=self._answer_limit,
        )
        if self._retired:
            self.close()
            raise EngineDiedError("This server is closed for good.")

    def close(self) -> None:
        """Stop the engine, also while another thread waits for it."""
        if self._owner != os.getpid():
            self._adopt()
        process = self.process
        if process is None:
            return
        process.kill()
        with self._engine_lock:
            process.close()
            if self.process is process:
                self.process = None

    def retire(self) -> None:
        """Stop the engine and start none any more."""
        self._retired = True
        self.close()

    def request(self, cmd: str, payload: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Send one command to the engine that runs and give its answer, an error included.

        Raises:
            RequestParseError: The payload holds text that is not Unicode (lone surrogates).
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        if self.plan.capabilities.touches_files:
            return self._exchange(cmd, payload, timeout)
        return with_files(cmd, payload, lambda name, asked: self._exchange(name, asked, timeout))

    def _exchange(self, cmd: str, payload: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        try:
            line = cmd.encode() + b" " + orjson.dumps(payload)
        except (TypeError, UnicodeEncodeError) as error:
            raise RequestParseError(f"{cmd} cannot be sent: {error}.", "encoding") from error
        process = self.process
        if process is None:
            raise EngineDiedError(f"No engine runs that could answer {cmd}.")
        answer = process.request(line, timeout, cmd)
        try:
            decoded = orjson.loads(answer)
        except orjson.JSONDecodeError as error:
            raise self._not_protocol(process, cmd, answer) from error
        if not isinstance(decoded, dict):
            raise self._not_protocol(process, cmd, answer)
        if decoded.get("error") == _FATAL:
            process.bury(cmd, str(decoded.get("desc")))
        return decoded

    def _adopt(self) -> None:
        """Leave the engine to the parent process that this one was forked from."""
        inherited = self.process
        self._forget_engine()
        if inherited is not None:
            inherited.detach()

    def _not_protocol(self, process: EngineProcess, cmd: str, answer: bytes) -> EngineLostError:
        log = process.log_tail
        self.close()
        said = answer[:300].decode(errors="replace")
        return EngineProtocolError(
            f"The {self.plan.what} answered {cmd} with something that is not JSON: {said!r}. "
            "It was stopped." + (f"\nIts last words:\n{log[-2000:]}" if log else "")
        )
