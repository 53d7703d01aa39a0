"""The life of a server's engine: start, replacement, owners, limits and the exchange of requests.

One process at a time. One that dies, hangs or outgrows its memory is replaced at the next request,
and the environment is loaded again; a forked child gets a process of its own.
"""

import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean import errors
from lean_dojo_v2.lean.client.environments import count_environments
from lean_dojo_v2.lean.client.records import GoalState, Session
from lean_dojo_v2.lean.engines.native import FOREIGN_VARIABLE
from lean_dojo_v2.lean.engines.process import EngineProcess, LaunchPlan, inherited
from lean_dojo_v2.lean.engines.protocol import with_files
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan

Payload: TypeAlias = Mapping[str, Any]
Seconds: TypeAlias = float | None
T = TypeVar("T")
R = TypeVar("R")

GC_THRESHOLD = 64
"""Maximum number of dropped goal states before a request deletes them."""
_FATAL = "fatal"
"""The embedded engine's answer before it exits because its memory may be damaged."""
_FULL = "memory"
"""The embedded engine's answer when it cannot load more; another one can."""
_PARSE_CODES = frozenset({"parse", "parsing", "parser"})
_HARMLESS = frozenset({"stat", "options.set", "options.print", "goal.delete", "dojo.judge"})
"""Commands that elaborate nothing."""
_STATED = frozenset({
    "goal.start", "frontend.process", "frontend.distil", "frontend.refactor", "frontend.track",
    "env.add", "expr.echo",
})  # fmt: skip
"""Commands about texts in the session's own environment."""


class Engine:
    """What every :class:`.Server` does with its engine, apart from the commands of the protocol."""

    _process: EngineProcess | None
    """The process, or the last one if that was lost; ``None`` if none was started."""
    _session: Session
    """The life of the present process, which goal states belong to."""
    _rows: dict[int, bytes]
    """What the process has exported under a number."""
    _owner: str | None
    """Whose texts it has elaborated; ``None`` once these are nobody's concern."""
    _used: bool
    """Whether it has elaborated anything since it was new."""

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
        self._retired = False
        self._definitions: list[Payload] = []
        """Requests that changed the environment, to repeat in a new process."""
        self._forget()
        inherited.add(self)
        if start:
            self.restart()

    @functools.cached_property
    def plan(self) -> LaunchPlan:
        """How the engine is started, chosen when first needed.

        Raises:
            UsageError: There is no engine of that name.
            EngineUnavailableError: No engine can serve this.
        """
        return engine_plan(
            self.engine,
            self.imports,
            project=self.project_path,
            lean_path=self.lean_path,
            core_options=self.core_options,
            memory_limit_mb=self.memory_limit_mb,
        )

    @property
    def pid(self) -> int | None:
        """The engine's process id, while it runs."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    @property
    def memory_mb(self) -> float:
        """The engine's resident memory in megabytes; 0 while none runs."""
        return 0.0 if self._process is None else self._process.memory_mb

    @property
    def home(self) -> str:
        """The owner of the session's own definitions: its project, if any."""
        return "" if self.project_path is None else f"in {self.project_path}"

    def restart(self) -> None:
        """Start a fresh engine, stopping the one that runs.

        Goal states and loaded definitions are lost. (The replacement of a lost engine gets its
        headers and definitions back.)

        Raises:
            EngineDiedError: The server is closed for good.
            EngineLostError: The engine did not become ready.
        """
        with self._lock:
            self._definitions = []
            self._open()

    def begin(self, owner: str) -> None:
        """Declare the owner of the next texts, by any key.

        An engine that has elaborated another owner's text becomes a new one first, which loses its
        goal states. The session's own definitions have the owner :attr:`home`.

        Raises:
            EngineLostError: A new engine was needed and did not become ready.
        """
        with self._lock:
            if owner != self._owner and self._used and self.pid is not None:
                self._renew()
            self._owner = owner

    def leave(self) -> None:
        """Declare that the texts so far have no owner any more: the next one has another."""
        with self._lock:
            self._owner = None

    def _stop(self) -> None:
        """Stop the process, even while another thread waits; the next call starts another."""
        process = self._process
        if process is None:
            return
        process.kill()
        with self._lock:
            process.close()
            if self._process is process:
                self._process = None

    def load_as(self, other: Self) -> None:
        """Use the definitions loaded by another server, from the next call on."""
        with self._lock:
            if self._definitions != other._definitions:
                self._stop()
                self._definitions = list(other._definitions)

    def _forget(self) -> None:
        self._lock = threading.RLock()
        self._process = None
        self._become_new()

    def _become_new(self) -> None:
        """Forget what the process was asked so far: it is gone, or as it was at its start."""
        self._session = Session()
        self._owner, self._used = self.home, False
        self._rows = {}

    def _open(self) -> None:
        """Start a fresh process, stopping the one that runs."""
        self._stop()
        self._require_open()
        self._become_new()
        self._process = EngineProcess(
            self.plan,
            start_timeout=self.start_timeout,
            memory_limit_mb=self.memory_limit_mb,
            answer_limit=self.buffer_limit,
        )
        self._require_open()
        self._prepare()

    def _require_open(self) -> None:
        if self._retired:
            self._stop()
            raise errors.EngineDiedError("This server is closed and cannot be used again.")

    def _renew(self) -> None:
        """Have a process that has elaborated nothing but the session's own definitions."""
        if self._process is not None and self._process.reset(self.start_timeout):
            self._become_new()
            self._prepare()
        else:
            self._open()

    def _prepare(self) -> None:
        """Give a new process its options, modules and definitions."""
        try:
            if self.options:
                self.ask("options.set", self.options)
            if self.plan.loads:
                self.ask("frontend.process", self.plan.loads, self.start_timeout)
            for fields in self._definitions:
                self.ask("frontend.process", fields)
        except BaseException:
            self._stop()  # an engine with half of its environment would answer wrongly
            raise
        self._used = False

    def run(self, cmd: str, payload: Payload, *, timeout: Seconds = None) -> dict[str, Any]:
        """Send one command of the protocol, for example ``"goal.start"``, with its fields.

        A goal state among the fields is sent as its number. The answer is returned unchanged, even
        an error.

        Raises:
            RequestParseError: The payload contains text that is not Unicode (lone surrogates).
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
            EngineUnavailableError: A command of our program for a foreign engine.
            StaleStateError: A goal state belongs to an engine that is gone.
        """
        limit = self.timeout if timeout is None else timeout
        with self._lock:
            if self._owner is None or cmd in _STATED:
                self.begin(self.home)
            numbers = {k: self._id_of(it) for k, it in payload.items() if isinstance(it, GoalState)}
            if self.pid is None and not numbers:  # another process has other states
                owner = self._owner
                self._open()
                self._owner = owner  # whose text comes next, in a new process, too
            self._used |= cmd not in _HARMLESS
            payload = {**payload, **numbers}
            if self.plan.capabilities.ours:
                return with_files(cmd, payload, lambda name, it: self._exchange(name, it, limit))
            if cmd.startswith("dojo."):
                raise errors.EngineUnavailableError(
                    f"{FOREIGN_VARIABLE} names an engine that cannot verify. Unset it, or use "
                    "engine=embedded."
                )
            return self._exchange(cmd, payload, limit)

    def ask(self, cmd: str, payload: Payload, timeout: Seconds = None) -> dict[str, Any]:
        """Send one command as :meth:`run` does, and return its answer or raise its error.

        Raises:
            RequestParseError: Some text in the request is not Lean.
            RequestError: The engine refused the request.
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        with self._lock:
            if len(self._session.dropped) >= GC_THRESHOLD and cmd != "goal.delete":
                self.gc(timeout=timeout)
            answer = self.run(cmd, payload, timeout=timeout)
        if "error" not in answer:
            return answer
        code, text = str(answer["error"]), str(answer.get("desc", ""))
        if code == _FULL:
            self._stop()
            raise errors.EngineMemoryError(f"{text}. The next call starts a new engine.")
        kind = errors.RequestParseError if code in _PARSE_CODES else errors.RequestError
        raise kind(text or code, code)

    def gc(self, *, timeout: Seconds = None) -> None:
        """Make the engine delete all unused goal states."""
        with self._lock:
            dropped = self._session.dropped
            ids = [dropped.popleft() for _ in range(len(dropped))]
            if ids and self.pid is not None:
                self.ask("goal.delete", {"stateIds": ids}, timeout)

    def holds(self, state: GoalState) -> bool:
        """Whether a goal state lives in the engine that runs now."""
        return state.handle.session is self._session and self.pid is not None

    def _read(self, answer: T, reader: Callable[[T], R]) -> R:
        """Parse an answer into records; an unknown form is an EngineProtocolError."""
        try:
            return reader(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._stop()
            raise errors.EngineProtocolError(
                f"The {self.plan.what} gave an answer in an unknown form "
                f"({type(error).__name__}: {error}). It was stopped. Is it another version of "
                "Pantograph?"
            ) from error

    def _id_of(self, state: GoalState) -> int:
        """Return a state's number; a StaleStateError says that it lives in another process."""
        if not self.holds(state):
            raise errors.StaleStateError(
                f"Goal state {state.state_id} belongs to an engine that is gone, or to another "
                "server. Start the goal again."
            )
        return state.state_id

    def _exchange(self, cmd: str, payload: Payload, timeout: float) -> dict[str, Any]:
        try:
            line = cmd.encode() + b" " + orjson.dumps(payload)
        except (TypeError, UnicodeEncodeError) as error:
            raise errors.RequestParseError(f"{cmd} cannot be sent: {error}.", "encoding") from error
        process = self._process
        assert process is not None  # see `run`
        began = time.monotonic()
        try:
            answer = process.request(line, timeout)
        finally:
            count_environments(seconds=time.monotonic() - began)
        try:
            decoded = orjson.loads(answer)
        except orjson.JSONDecodeError:
            decoded = None
        if not isinstance(decoded, dict):
            said = answer[:300].decode(errors="replace")
            process.fail(
                errors.EngineProtocolError, f"answered with something other than JSON: {said!r}"
            )
        if "imported" in decoded and self.plan.capabilities.ours:
            count_environments(**decoded.pop("imported"))
        if decoded.get("error") == _FATAL:
            process.mark_dead(str(decoded.get("desc")))
        return decoded
