"""A server's engine: started when needed, locked while it answers, replaced when it is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson

from lean_dojo_v2.lean.client.records import GoalState, Session
from lean_dojo_v2.lean.engines.process import EngineProcess, LaunchPlan
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan, is_core
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    EngineMemoryError,
    EngineProtocolError,
    RequestError,
    RequestParseError,
    StaleStateError,
)

Payload = Mapping[str, Any]
T = TypeVar("T")
R = TypeVar("R")

GC_THRESHOLD = 64
"""Dropped goal states that may pile up in an engine before the next call deletes them."""
_CONFIGURATION = (
    "imports", "project_path", "lean_path", "options", "core_options", "timeout", "buffer_limit",
    "engine", "memory_limit_mb", "start_timeout",
)  # fmt: skip
_FULL = "memory"
"""What the embedded engine answers when it must not load more: another one has room."""
_FATAL = "fatal"
"""What the embedded engine answers before it ends because its memory may be damaged."""
_PARSE_CODES = frozenset({"parse", "parsing", "parser"})


class Connection:
    """The engine behind a server; the parameters are described at :class:`~.server.Server`."""

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
        self.core_options = list(core_options)
        self.timeout = timeout
        self.buffer_limit = buffer_limit
        self.engine: EngineName = engine
        self.memory_limit_mb = memory_limit_mb
        self.start_timeout = start_timeout
        self._plan: LaunchPlan | None = None
        self._retired = False
        self._forget_engine()
        if start:
            self.restart()

    def _forget_engine(self) -> None:
        self._owner = os.getpid()
        self._engine_lock = threading.RLock()
        self._process: EngineProcess | None = None
        self._session = Session()
        self._loaded: list[tuple[str, Payload]] = []

    # -- life -------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        what = self._plan.what if self._plan is not None else f"{self.engine} engine"
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
        return self._choose().kind

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

    @property
    def to_remove_goal_states(self) -> list[int]:
        """Ids of dropped goal states that the engine still holds (PyPantograph's name)."""
        return list(self._session.dropped)

    def is_automatic(self) -> bool:
        """Whether goals stay in scope by themselves (Pantograph's ``automaticMode``)."""
        return bool(self.options.get("automaticMode", True))

    def restart(self) -> None:
        """Start a fresh engine, stopping the one that runs.

        Goal states are gone, and so is what was loaded into the environment. (An engine that is
        replaced because it was lost gets its headers and definitions back.)
        """
        with self._lock:
            self._loaded = []
            self._start()

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
        """Stop the engine for good: calls from now on, and those that wait, fail."""
        self._retired = True
        self.close()

    @property
    def _lock(self) -> threading.RLock:
        """The lock of the engine; a forked child gets a lock and an engine of its own."""
        if self._owner != os.getpid():
            self._adopt()
        return self._engine_lock

    def _adopt(self) -> None:
        """Leave the engine to the parent process that this one was forked from."""
        inherited, loaded = self._process, self._loaded
        self._forget_engine()
        self._loaded = loaded
        if inherited is not None:
            inherited.detach()

    def _choose(self) -> LaunchPlan:
        if self._plan is None:
            self._plan = engine_plan(
                self.engine,
                self.imports,
                project=self.project_path,
                lean_path=self.lean_path,
                core_options=self.core_options,
                memory_limit_mb=self.memory_limit_mb,
            )
        return self._plan

    def _start(self) -> EngineProcess:
        self.close()
        if self._retired:
            raise EngineDiedError("This server is closed for good.")
        self._session = Session()
        process = EngineProcess(
            self._choose(),
            start_timeout=self.start_timeout,
            memory_limit_mb=self.memory_limit_mb,
            answer_limit=self.buffer_limit,
        )
        self._process = process
        if self._retired:
            self.close()
            raise EngineDiedError("This server is closed for good.")
        if self.options:
            self.ask("options.set", self.options)
        if self._plan is not None and self._plan.kind == "embedded":
            self._import_own_modules()
        return process

    def _import_own_modules(self) -> None:
        """Import the project's modules, which the embedded engine reads as sources."""
        if all(is_core(module) for module in self.imports):
            return
        header = "\n".join(f"import {module}" for module in self.imports)
        fields = {"file": header, "readHeader": True, "inheritEnv": True}
        self.ask("frontend.process", fields, self.start_timeout)

    def _running(self) -> EngineProcess:
        """Give the engine; replace a lost one and load again what it had loaded."""
        process = self._process
        if process is not None and process.alive:
            return process
        process = self._start()
        try:
            for command, payload in self._loaded:
                self.ask(command, payload)
        except BaseException:
            self.close()  # an engine that has only half of its environment would answer wrongly
            raise
        return process

    # -- requests ---------------------------------------------------------------------------------

    def run(self, cmd: str, payload: Payload, *, timeout: float | None = None) -> dict[str, Any]:
        """Send one command of the protocol and give its answer as it is, an error included.

        Args:
            cmd: The command, for example ``"goal.start"``.
            payload: Its fields.
            timeout: Seconds to wait, in place of the server's.

        Raises:
            RequestParseError: The payload holds text that is not Unicode (lone surrogates).
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        try:
            line = cmd.encode() + b" " + orjson.dumps(payload)
        except (TypeError, UnicodeEncodeError) as error:
            raise RequestParseError(f"{cmd} cannot be sent: {error}.", "encoding") from error
        with self._lock:
            process = self._running()
            answer = process.request(line, self.timeout if timeout is None else timeout, cmd)
            try:
                decoded = orjson.loads(answer)
            except orjson.JSONDecodeError as error:
                raise self._not_protocol(cmd, answer) from error
            if not isinstance(decoded, dict):
                raise self._not_protocol(cmd, answer)
            if decoded.get("error") == _FATAL:
                process.bury(cmd, str(decoded.get("desc")))
            return decoded

    def gc(self, *, timeout: float | None = None) -> None:
        """Make the engine forget all goal states that nobody holds any more."""
        with self._lock:
            dropped = self._session.dropped
            ids = [dropped.popleft() for _ in range(len(dropped))]
            if ids and self.pid is not None:
                self.ask("goal.delete", {"stateIds": ids}, timeout)

    def stat(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Give what the engine says about itself; ``nGoals`` is the number of live goal states."""
        return self.ask("stat", {}, timeout)

    def ask(self, cmd: str, payload: Payload, timeout: float | None = None) -> dict[str, Any]:
        """Send one command of the protocol, give its answer and raise its error.

        Args:
            cmd: The command, for example ``"goal.start"``.
            payload: Its fields.
            timeout: Seconds to wait, in place of the server's.

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

    def _load(self, cmd: str, payload: Payload, timeout: float | None) -> dict[str, Any]:
        """Send a command that changes the environment; a replacement engine gets it again."""
        with self._lock:
            answer = self.ask(cmd, payload, timeout)
            self._loaded.append((cmd, payload))
            return answer

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
                f"The {self._choose().what} gave an answer of a form that this client does not "
                f"know ({type(error).__name__}: {error}). It was stopped. Is it a Pantograph of "
                "another version?"
            ) from error

    def holds(self, state: GoalState) -> bool:
        """Whether a goal state lives in the engine that runs now."""
        return state.handle.session is self._session and self.pid is not None

    def _id_of(self, state: GoalState) -> int:
        """Give a state's number, if it lives in the engine that runs now.

        Raises:
            StaleStateError: It does not.
        """
        if not self.holds(state):
            raise StaleStateError(
                f"Goal state {state.state_id} belongs to an engine that is gone, or to another "
                "server. Start the goal again."
            )
        return state.state_id

    def _not_protocol(self, cmd: str, answer: bytes) -> EngineLostError:
        log = self.log_tail
        self.close()
        said = answer[:300].decode(errors="replace")
        return EngineProtocolError(
            f"The {self._choose().what} answered {cmd} with something that is not JSON: {said!r}. "
            "It was stopped." + (f"\nIts last words:\n{log[-2000:]}" if log else "")
        )
