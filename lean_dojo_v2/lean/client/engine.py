"""The life of a server's engine: start, replacement, owners, limits and the exchange of requests.

One process at a time. One that dies, hangs or outgrows its memory is replaced at the next request,
and the environment is loaded again; a forked child gets a process of its own.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import orjson

from lean_dojo_v2.lean.client.environments import count_environments
from lean_dojo_v2.lean.client.records import GoalState, Session
from lean_dojo_v2.lean.engines.native import FOREIGN_VARIABLE
from lean_dojo_v2.lean.engines.process import EngineProcess, LaunchPlan
from lean_dojo_v2.lean.engines.protocol import with_files
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineMemoryError,
    EngineProtocolError,
    EngineUnavailableError,
    RequestError,
    RequestParseError,
    StaleStateError,
)

Payload: TypeAlias = Mapping[str, Any]
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
    """An engine that is there when it is needed; safe to use from several threads.

    Args:
        choose_plan: Chooses how to start it; called once, when first needed.
        home: The owner of the session's own definitions.
        options: Pantograph's options.
        timeout: Seconds that loading one of the session's definitions may take.
        start_timeout: Seconds that it may take to become ready.
        memory_limit_mb: Resident megabytes at which it is stopped.
        answer_limit: Bytes that one answer may have.

    Attributes:
        process: The process, or the last one if that was lost; ``None`` if none was started.
        session: The life of the present process, which goal states belong to.
        rows: What the process has exported under a number.
        definitions: Requests that changed the environment, to repeat in a new process.
        retired: Whether it is closed for good.
    """

    process: EngineProcess | None
    session: Session
    rows: dict[int, bytes]
    _owner: str | None
    """Whose texts it has elaborated; ``None`` once these are nobody's concern."""
    _used: bool
    """Whether it has elaborated anything since it was new."""

    def __init__(
        self,
        choose_plan: Callable[[], LaunchPlan],
        *,
        home: str,
        options: Payload,
        timeout: float,
        start_timeout: float,
        memory_limit_mb: int | None,
        answer_limit: int | None,
    ) -> None:
        self._choose_plan = choose_plan
        self._home = home
        self._options = options
        self._timeout = timeout
        self._start_timeout = start_timeout
        self.memory_limit_mb = memory_limit_mb
        self._answer_limit = answer_limit
        self.retired = False
        self.definitions: list[Payload] = []
        self._forget_process()

    @functools.cached_property
    def plan(self) -> LaunchPlan:
        """The launch plan, chosen when first needed.

        Raises:
            UsageError: There is no engine of that name.
            EngineUnavailableError: No engine can serve this.
        """
        return self._choose_plan()

    @property
    def pid(self) -> int | None:
        """The process's id, while it runs."""
        process = self.process
        return process.pid if process is not None and process.alive else None

    @property
    def memory_mb(self) -> float:
        """Resident memory in megabytes; 0 while no process runs."""
        process = self.process
        return 0.0 if process is None else process.memory_mb

    @property
    def resets(self) -> int:
        """How often the process was put back to its start for another owner's texts."""
        return 0 if self.process is None else self.process.resets

    @property
    def lock(self) -> threading.RLock:
        """The lock of the process; a forked child gets a lock and a process of its own."""
        if self._owning_process != os.getpid():
            self._adopt()
        return self._process_lock

    # -- life -------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Start a fresh process without the session's definitions, stopping the one that runs.

        Raises:
            EngineDiedError: The engine is closed for good.
            EngineLostError: The process did not become ready.
        """
        with self.lock:
            self.definitions = []
            self._open()

    def begin(self, owner: str) -> None:
        """Declare the owner of the next texts; see ``Server.begin``.

        Raises:
            EngineLostError: A new process was needed and did not become ready.
        """
        with self.lock:
            if owner != self._owner and self._used and self.pid is not None:
                self._renew()
            self._owner = owner

    def leave(self) -> None:
        """Declare that the texts so far have no owner any more: the next one has another."""
        with self.lock:
            self._owner = None

    def stop(self) -> None:
        """Stop the process, even while another thread waits; the next call starts another."""
        if self._owning_process != os.getpid():
            self._adopt()
        process = self.process
        if process is None:
            return
        process.kill()
        with self._process_lock:
            process.close()
            if self.process is process:
                self.process = None

    def load_as(self, other: Engine) -> None:
        """Use the definitions of another engine, from the next request on."""
        with self.lock:
            if self.definitions != other.definitions:
                self.stop()
                self.definitions = list(other.definitions)

    def _forget_process(self) -> None:
        self._owning_process = os.getpid()
        self._process_lock = threading.RLock()
        self.process = None
        self._become_new()

    def _adopt(self) -> None:
        """After a fork, leave the process to the parent."""
        inherited = self.process
        self._forget_process()
        if inherited is not None:
            inherited.detach()

    def _become_new(self) -> None:
        """Forget what the process was asked so far: it is gone, or as it was at its start."""
        self.session = Session()
        self._owner, self._used = self._home, False
        self.rows = {}

    def _open(self) -> None:
        """Start a fresh process, stopping the one that runs."""
        self.stop()
        self._require_open()
        self._become_new()
        self.process = EngineProcess(
            self.plan,
            start_timeout=self._start_timeout,
            memory_limit_mb=self.memory_limit_mb,
            answer_limit=self._answer_limit,
        )
        self._require_open()
        self._prepare()

    def _require_open(self) -> None:
        if self.retired:
            self.stop()
            raise EngineDiedError("This server is closed and cannot be used again.")

    def _prepare(self) -> None:
        """Give a new process its options and modules."""
        if self._options:
            self.ask("options.set", self._options, self._timeout)
        if self.plan.unloaded:
            self.ask("frontend.process", self.plan.loads, self._start_timeout)
        self._used = False

    def _replace(self) -> None:
        """Start a new process in place of a lost one, and reload its definitions."""
        self._open()
        self._reload()

    def _renew(self) -> None:
        """Have a process that has elaborated nothing but the session's own definitions."""
        if self.process is None or not self.process.reset(self._start_timeout):
            self._replace()
            return
        self._become_new()
        self._prepare()
        self._reload()

    def _reload(self) -> None:
        try:
            for fields in self.definitions:
                self.ask("frontend.process", fields, self._timeout)
        except BaseException:
            self.stop()  # an engine with half of its environment would answer wrongly
            raise
        self._used = False

    # -- requests ---------------------------------------------------------------------------------

    def run(self, cmd: str, payload: Payload, timeout: float) -> dict[str, Any]:
        """Send one command and return its answer, even an error; see ``Server.run``."""
        with self.lock:
            if self._owner is None or cmd in _STATED:
                self.begin(self._home)
            numbers = {
                key: self._id_of(value)
                for key, value in payload.items()
                if isinstance(value, GoalState)
            }
            if self.pid is None and not numbers:  # another process has other states
                owner = self._owner
                self._replace()
                self._owner = owner  # whose text comes next, in a new process, too
            self._used |= cmd not in _HARMLESS
            payload = {**payload, **numbers}
            if self.plan.capabilities.ours:
                return with_files(cmd, payload, lambda name, it: self._exchange(name, it, timeout))
            if cmd.startswith("dojo."):
                raise EngineUnavailableError(
                    f"{FOREIGN_VARIABLE} names an engine that cannot verify. Unset it, or use "
                    "engine=embedded."
                )
            return self._exchange(cmd, payload, timeout)

    def ask(self, cmd: str, payload: Payload, timeout: float) -> dict[str, Any]:
        """Send one command, and return its answer or raise its error; see ``Server.ask``."""
        with self.lock:
            if len(self.session.dropped) >= GC_THRESHOLD and cmd != "goal.delete":
                self.gc(timeout)
            answer = self.run(cmd, payload, timeout)
        if "error" not in answer:
            return answer
        code, text = str(answer["error"]), str(answer.get("desc", ""))
        if code == _FULL:
            self.stop()
            raise EngineMemoryError(f"{text}. The next call starts a new engine.")
        kind = RequestParseError if code in _PARSE_CODES else RequestError
        raise kind(text or code, code)

    def gc(self, timeout: float) -> None:
        """Delete all unused goal states."""
        with self.lock:
            dropped = self.session.dropped
            ids = [dropped.popleft() for _ in range(len(dropped))]
            if ids and self.pid is not None:
                self.ask("goal.delete", {"stateIds": ids}, timeout)

    def holds(self, state: GoalState) -> bool:
        """Whether a goal state lives in the process that runs now."""
        return state.handle.session is self.session and self.pid is not None

    def read(self, answer: T, reader: Callable[[T], R]) -> R:
        """Parse an answer into records.

        Raises:
            EngineProtocolError: The answer has an unknown form.
        """
        try:
            return reader(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.stop()
            raise EngineProtocolError(
                f"The {self.plan.what} gave an answer in an unknown form "
                f"({type(error).__name__}: {error}). It was stopped. Is it another version of "
                "Pantograph?"
            ) from error

    def _id_of(self, state: GoalState) -> int:
        """Return a state's number, if it lives in the process that runs now.

        Raises:
            StaleStateError: It does not.
        """
        if not self.holds(state):
            raise StaleStateError(
                f"Goal state {state.state_id} belongs to an engine that is gone, or to another "
                "server. Start the goal again."
            )
        return state.state_id

    def _exchange(self, cmd: str, payload: Payload, timeout: float) -> dict[str, Any]:
        try:
            line = cmd.encode() + b" " + orjson.dumps(payload)
        except (TypeError, UnicodeEncodeError) as error:
            raise RequestParseError(f"{cmd} cannot be sent: {error}.", "encoding") from error
        process = self.process
        if process is None:
            raise EngineDiedError("No engine runs.")
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
            process.fail(EngineProtocolError, f"answered with something other than JSON: {said!r}")
        if "imported" in decoded and self.plan.capabilities.ours:
            count_environments(**decoded.pop("imported"))
        if decoded.get("error") == _FATAL:
            process.mark_dead(str(decoded.get("desc")))
        return decoded
