"""An engine that answers requests: one process at a time, locked while it answers.

An engine that was lost is replaced at the next request, and the new one is told again what had
made the environment of the old one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.records import GoalState, Session
from lean_dojo_v2.lean.engines.capabilities import Capabilities
from lean_dojo_v2.lean.engines.host import with_files
from lean_dojo_v2.lean.engines.process import EngineProcess, LaunchPlan
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan, is_core
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineMemoryError,
    EngineProtocolError,
    RequestError,
    RequestParseError,
    StaleStateError,
)

Payload: TypeAlias = Mapping[str, Any]
Seconds: TypeAlias = float | None
"""How long a call may take; as long as the ``timeout`` of the connection where it is ``None``."""
T = TypeVar("T")
R = TypeVar("R")

GC_THRESHOLD = 64
"""Dropped goal states that may pile up in an engine before the next request deletes them."""
_CONFIGURATION = (
    "imports", "project_path", "lean_path", "options", "core_options", "timeout", "buffer_limit",
    "engine", "memory_limit_mb", "start_timeout",
)  # fmt: skip
_FATAL = "fatal"
"""What the embedded engine answers before it ends because its memory may be damaged."""
_FULL = "memory"
"""What the embedded engine answers when it must not load more: another one has room."""
_PARSE_CODES = frozenset({"parse", "parsing", "parser"})


class Connection:
    """One engine process at a time, shared by threads; a forked child gets one of its own.

    The arguments are those of :class:`~lean_dojo_v2.lean.client.server.Server`.
    """

    _process: EngineProcess | None
    _session: Session
    """The life of the present process, which goal states belong to."""

    def __init__(  # noqa: PLR0917 - PyPantograph's positions
        self,
        imports: Sequence[str] = ("Init",),
        project_path: str | Path | None = None,
        lean_path: str | None = None,
        options: Payload | None = None,
        core_options: Sequence[str] = (),
        timeout: float = 60,
        buffer_limit: int | None = None,
        *,
        engine: EngineName = "auto",
        memory_limit_mb: int | None = None,
        start_timeout: float = 180.0,
        start: bool = True,
    ) -> None:
        self.imports = list(imports)
        self.project_path = None if project_path is None else Path(project_path).absolute()
        self.lean_path = lean_path
        self.options = dict(options or {})
        if self.options.get("printJsonPretty"):
            raise UsageError("options: printJsonPretty: this client reads answers of one line.")
        self.core_options = list(core_options)
        self.timeout = timeout
        self.buffer_limit = buffer_limit
        self.engine: EngineName = engine
        self.memory_limit_mb = memory_limit_mb
        self.start_timeout = start_timeout
        self._chosen: LaunchPlan | None = None
        self._retired = False
        self._loaded: list[tuple[str, Payload]] = []
        self._forget_engine()
        if start:
            self.restart()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        what = f"{self.engine} engine" if self._chosen is None else self._chosen.what
        return f"<{type(self).__name__}: {what}, imports={self.imports}, pid={self.pid}>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the configuration; the copy starts an engine of its own at its first call."""
        return {name: getattr(self, name) for name in _CONFIGURATION}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Connection.__init__(self, **state, start=False)

    @property
    def pid(self) -> int | None:
        """The engine's process id, while it runs."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    @property
    def kind(self) -> str:
        """Which engine it is: ``"native"`` or ``"embedded"``."""
        return self._plan.kind

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do; known before it starts."""
        return self._plan.capabilities

    @property
    def memory_mb(self) -> float:
        """The engine's resident memory in megabytes; 0 while none runs."""
        process = self._process
        return 0.0 if process is None else process.memory_mb

    @property
    def log_tail(self) -> str:
        """The last lines that the engine wrote to its log."""
        process = self._process
        return "" if process is None else process.log_tail

    # -- life -------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Start a fresh engine, stopping the one that runs.

        Goal states are gone, and so is what was loaded into the environment. (An engine that is
        replaced because it was lost gets its headers and definitions back.)

        Raises:
            EngineDiedError: The connection is closed for good.
            EngineLostError: The engine did not become ready.
        """
        with self._lock:
            self._loaded = []
            self._open()

    def close(self) -> None:
        """Stop the engine, also while another thread waits for it; the next call starts another."""
        if self._owner != os.getpid():
            self._adopt()
        process = self._process
        if process is None:
            return
        process.kill()
        with self._engine_lock:
            process.close()
            if self._process is process:
                self._process = None

    def retire(self) -> None:
        """Stop the engine permanently: waiting and later calls fail."""
        self._retired = True
        self.close()

    @property
    def _plan(self) -> LaunchPlan:
        """How the engine is started; chosen when that is first needed.

        Raises:
            UsageError: There is no engine of the name that was asked for.
            EngineUnavailableError: No engine can serve this.
        """
        if self._chosen is None:
            self._chosen = engine_plan(
                self.engine,
                self.imports,
                project=self.project_path,
                lean_path=self.lean_path,
                core_options=self.core_options,
                memory_limit_mb=self.memory_limit_mb,
            )
        return self._chosen

    @property
    def _lock(self) -> threading.RLock:
        """The lock of the engine; a forked child gets a lock and an engine of its own."""
        if self._owner != os.getpid():
            self._adopt()
        return self._engine_lock

    def _forget_engine(self) -> None:
        self._owner = os.getpid()
        self._engine_lock = threading.RLock()
        self._process = None
        self._session = Session()

    def _adopt(self) -> None:
        """Leave the engine to the parent process that this one was forked from."""
        inherited = self._process
        self._forget_engine()
        if inherited is not None:
            inherited.detach()

    def _open(self) -> None:
        """Start a fresh engine, stopping the one that runs."""
        self.close()
        if self._retired:
            raise EngineDiedError("This server is closed and cannot be used again.")
        self._session = Session()
        self._process = EngineProcess(
            self._plan,
            start_timeout=self.start_timeout,
            memory_limit_mb=self.memory_limit_mb,
            answer_limit=self.buffer_limit,
        )
        if self._retired:
            self.close()
            raise EngineDiedError("This server is closed and cannot be used again.")
        if self.options:
            self.ask("options.set", self.options)
        if self.capabilities.reads_sources and not all(map(is_core, self.imports)):
            # Such an engine does not take the project's own modules as arguments.
            header = "\n".join(f"import {module}" for module in self.imports)
            fields = {"file": header, "readHeader": True, "inheritEnv": True}
            self.ask("frontend.process", fields, self.start_timeout)

    def _replace(self) -> None:
        """Start an engine in place of a lost one and load again what that had loaded."""
        self._open()
        try:
            for command, payload in self._loaded:
                self.ask(command, payload)
        except BaseException:
            self.close()  # an engine that has only half of its environment would answer wrongly
            raise

    # -- requests ---------------------------------------------------------------------------------

    def run(self, cmd: str, payload: Payload, *, timeout: Seconds = None) -> dict[str, Any]:
        """Send one command of the protocol and return its answer unchanged, even an error.

        Args:
            cmd: The command, for example ``"goal.start"``.
            payload: Its fields.
            timeout: Seconds to wait, in place of the server's.

        Raises:
            RequestParseError: The payload holds text that is not Unicode (lone surrogates).
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        with self._lock:
            if self.pid is None:
                self._replace()
            limit = self.timeout if timeout is None else timeout
            if self.capabilities.touches_files:
                return self._exchange(cmd, payload, limit)
            return with_files(cmd, payload, lambda name, it: self._exchange(name, it, limit))

    def ask(self, cmd: str, payload: Payload, timeout: Seconds = None) -> dict[str, Any]:
        """Send one command as :meth:`run` does, and return its answer or raise its error.

        Raises:
            RequestParseError: Some text in the request is not Lean.
            RequestError: The engine refused the request.
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        with self._lock:
            if len(self._session.dropped) >= GC_THRESHOLD and cmd != "goal.delete":
                self.gc()
            answer = self.run(cmd, payload, timeout=timeout)
        if "error" in answer:
            code, text = str(answer["error"]), str(answer.get("desc", ""))
            if code == _FULL:
                self.close()
                raise EngineMemoryError(f"{cmd}: {text}. The next call starts a new engine.")
            kind = RequestParseError if code in _PARSE_CODES else RequestError
            raise kind(f"{cmd}: {text or code}", code)
        return answer

    def gc(self, *, timeout: Seconds = None) -> None:
        """Make the engine forget all goal states that are no longer in use."""
        with self._lock:
            dropped = self._session.dropped
            ids = [dropped.popleft() for _ in range(len(dropped))]
            if ids and self.pid is not None:
                self.ask("goal.delete", {"stateIds": ids}, timeout)

    def holds(self, state: GoalState) -> bool:
        """Whether a goal state lives in the engine that runs now."""
        return state.handle.session is self._session and self.pid is not None

    def _id_of(self, state: GoalState) -> int:
        """Return a state's number, if it lives in the engine that runs now.

        Raises:
            StaleStateError: It does not.
        """
        if not self.holds(state):
            raise StaleStateError(
                f"Goal state {state.state_id} belongs to an engine that is gone, or to another "
                "server. Start the goal again."
            )
        return state.state_id

    def _load(self, cmd: str, payload: Payload, timeout: Seconds) -> None:
        """Send a command that changes the environment; a replacement engine gets it again."""
        with self._lock:
            self.ask(cmd, payload, timeout)
            self._note(cmd, payload)

    def _note(self, cmd: str, payload: Payload) -> None:
        """Note what changed the environment, for the engine that may replace this one."""
        if payload.get("readHeader"):
            self._loaded.clear()  # a header replaces the whole environment
        self._loaded.append((cmd, payload))

    def _read(self, answer: T, reader: Callable[[T], R]) -> R:
        """Make records out of an answer.

        Raises:
            EngineProtocolError: The answer has not the form that it should have.
        """
        try:
            return reader(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.close()
            raise EngineProtocolError(
                f"The {self._plan.what} gave an answer of a form that this client does not know "
                f"({type(error).__name__}: {error}). It was stopped. Is it another version of "
                "Pantograph?"
            ) from error

    def _exchange(self, cmd: str, payload: Payload, timeout: float) -> dict[str, Any]:
        try:
            line = cmd.encode() + b" " + orjson.dumps(payload)
        except (TypeError, UnicodeEncodeError) as error:
            raise RequestParseError(f"{cmd} cannot be sent: {error}.", "encoding") from error
        process = self._process
        if process is None:
            raise EngineDiedError(f"No engine runs that could answer {cmd}.")
        answer = process.request(line, timeout, cmd)
        try:
            decoded = orjson.loads(answer)
        except orjson.JSONDecodeError:
            decoded = None
        if not isinstance(decoded, dict):
            said = answer[:300].decode(errors="replace")
            happening = f"answered {cmd} with something that is not JSON: {said!r}"
            process.fail(EngineProtocolError, happening)
        if decoded.get("error") == _FATAL:
            process.bury(cmd, str(decoded.get("desc")))
        return decoded
