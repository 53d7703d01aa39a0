"""One engine process, and the exchange of lines with it.

Everything happens in the calling thread: one loop writes the request, reads the answer, drains the
engine's log and watches the clock and the memory. So there is no reader thread to leak, to fork or
to join at shutdown, and no hand-over between threads per request.
"""

import math
import os
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, NoReturn

import attrs
import orjson
import psutil

from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineLostError,
    EngineMemoryError,
    EngineProtocolError,
    EngineTimeoutError,
    EngineUnavailableError,
)

READY = b"ready."
RESET = b"host.reset"
"""A request for the host of an engine: answered as soon as the engine is as new."""
OUT_OF_MEMORY = "out of memory"
"""Log messages of Lean and V8 when they run out of memory."""
MEGABYTE = 1 << 20
CHUNK = 1 << 20
LOG_LIMIT = 8_192
"""Bytes of the engine's log kept for error messages."""
DEFAULT_ANSWER_LIMIT = 256 * MEGABYTE
WATCH_INTERVAL = 0.05
"""Seconds between checks of a busy engine's memory and time."""


inherited: weakref.WeakSet[Any] = weakref.WeakSet()
"""What a forked child has to ``_forget``, because its engines and locks are the parent's."""


def _begin_anew() -> None:
    for one in list(inherited):
        one._forget()  # noqa: SLF001 - what it is there for


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_begin_anew)


@attrs.frozen
class Capabilities:
    """The capabilities of an engine, known before it starts.

    One of ``ours`` runs our program, which verifies; any other is a `pantograph-repl` with
    Pantograph's own commands. Lean code in a ``sandboxed`` one can neither write files, nor start
    programs, nor reach a network. One that ``resets`` can return to its state after its start.
    """

    ours: bool
    sandboxed: bool
    resets: bool = False


@attrs.frozen
class LaunchPlan:
    """How to start an engine of a kind, ``"native"`` or ``"embedded"``, with its whole environment.

    ``capabilities`` describe it (use them instead of ``kind``), ``loads`` are the fields of a
    ``frontend.process`` request to begin with, if any, and ``what`` is its name in errors.
    """

    kind: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = attrs.field(repr=False)
    what: str
    capabilities: Capabilities
    cwd: str | None = None
    loads: Mapping[str, Any] = attrs.field(factory=dict)


class EngineProcess:
    """A running engine that answers one line for each line.

    It must print ``ready.`` within ``start_timeout`` seconds. It is stopped at ``memory_limit_mb``
    of resident memory, even during a request, and when an answer exceeds ``answer_limit`` bytes.
    A program that cannot be run is an EngineUnavailableError, any other failure an EngineLostError.
    """

    def __init__(
        self,
        plan: LaunchPlan,
        *,
        start_timeout: float = 120.0,
        memory_limit_mb: int | None = None,
        answer_limit: int | None = None,
    ) -> None:
        self.plan = plan
        self.memory_limit_mb = memory_limit_mb
        self.answer_limit = answer_limit or DEFAULT_ANSWER_LIMIT
        self.resets = 0
        self._unread = bytearray()
        self._started = False
        self._log = bytearray()
        self._process = _spawn(plan)
        self._stdin, self._stdout, self._stderr = _pipes(self._process)
        self._finalizer = weakref.finalize(self, _stop, self._process, os.getpid())
        inherited.add(self)
        line = self._exchange(b"", start_timeout).strip()
        if line != READY:
            said = line[:200].decode(errors="replace")
            self.fail(EngineProtocolError, f"did not start with {READY.decode()!r}: {said!r}")
        self._started = True

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._finalizer.alive and self._process.poll() is None

    @property
    def memory_mb(self) -> float:
        """Resident memory in megabytes; 0 once the process is gone."""
        if not self._finalizer.alive:  # its pid may be another process's by now
            return 0.0
        try:
            return float(psutil.Process(self.pid).memory_info().rss) / MEGABYTE
        except psutil.Error:
            return 0.0

    @property
    def log_tail(self) -> str:
        """The last lines of the engine's log."""
        return self._log.decode(errors="replace").strip()

    def request(self, line: bytes, timeout: float | None) -> bytes:
        """Send one line and wait for one line, both without their newlines.

        It waits ``timeout`` seconds at most, or for ever if that is ``None``.

        Raises:
            EngineLostError: The engine died, did not answer in time, outgrew its memory or sent
                unexpected output. It is then stopped with its process group.
        """
        self._refuse_unexpected()
        return self._exchange(line + b"\n", timeout)

    def reset(self, timeout: float | None) -> bool:
        """Put the engine back to its state right after its start, and return whether it is there.

        Nothing that it has elaborated since, no file and no thread is left. If the answer is no,
        because this engine cannot do so or was lost meanwhile, start another one. It waits
        ``timeout`` seconds at most, or for ever if that is ``None``.
        """
        if not self.plan.capabilities.resets:
            return False
        try:
            answer = orjson.loads(self.request(RESET, timeout))
        except (EngineLostError, orjson.JSONDecodeError):
            return False
        self.resets = int(answer.get("resets", self.resets))
        return "error" not in answer

    def kill(self) -> None:
        """Kill the process, from any thread; a waiting thread gets an error."""
        if self.alive:
            kill_group(self._process)

    def close(self) -> None:
        """Stop the process and wait for its end. Safe to call twice, not during a request."""
        self._finalizer()

    def _forget(self) -> None:
        self._finalizer.detach()
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def _exchange(self, to_send: bytes, timeout: float | None) -> bytes:
        """Send some bytes, and wait for a line."""
        began = time.monotonic()
        to_write = memoryview(to_send)
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        poll.register(self._stderr, select.POLLIN)
        if to_write:
            poll.register(self._stdin, select.POLLOUT)
        end = math.inf if timeout is None else began + timeout
        next_check = min(began + WATCH_INTERVAL, end)
        try:
            while True:
                milliseconds = max(0.0, next_check - time.monotonic()) * 1000
                for descriptor, event in poll.poll(milliseconds):
                    if descriptor == self._stdin.fileno():
                        to_write = self._write_some(to_write, poll)
                    elif descriptor == self._stderr.fileno():
                        if not self._read_log() and event & select.POLLHUP:
                            poll.unregister(descriptor)
                    elif (answer := self._read_answer()) is not None:
                        return answer
                # By the clock, since an engine may flood its log for ever.
                if time.monotonic() >= next_check:
                    self._check_limits(began, timeout)
                    next_check = min(time.monotonic() + WATCH_INTERVAL, end)
        except BaseException:  # Ctrl-C as well: a late answer would be taken for the next one
            self.close()
            raise

    def _check_limits(self, began: float, timeout: float | None) -> None:
        limit = self.memory_limit_mb
        if limit is not None and (used := self.memory_mb) > limit:
            self.fail(EngineMemoryError, f"grew to {used:.0f} MB; its limit is {limit} MB")
        if timeout is not None and time.monotonic() - began >= timeout:
            self.fail(EngineTimeoutError, f"did not answer within {timeout:g} s")

    def _write_some(self, to_write: memoryview, poll: select.poll) -> memoryview:
        try:
            written = os.write(self._stdin.fileno(), to_write)
        except BlockingIOError:
            return to_write
        except (BrokenPipeError, ConnectionResetError):
            self.mark_dead()
        if written == len(to_write):
            poll.unregister(self._stdin)
        return to_write[written:]

    def _read_answer(self) -> bytes | None:
        """Read available data; return the answer once it is complete."""
        try:
            chunk = os.read(self._stdout.fileno(), CHUNK)
        except BlockingIOError:
            return None
        if not chunk:
            self.mark_dead()
        end = chunk.find(b"\n")
        if end < 0:
            self._unread += chunk
            if len(self._unread) > self.answer_limit:
                self.fail(EngineProtocolError, f"answered with more than {self.answer_limit} bytes")
            return None
        answer = bytes(self._unread + chunk[:end])
        self._unread = bytearray(chunk[end + 1 :])
        return answer

    def _read_log(self) -> bool:
        """Read the engine's log, keeping its end; false if there is nothing."""
        try:
            chunk = os.read(self._stderr.fileno(), CHUNK)
        except BlockingIOError:
            return False
        self._log += chunk
        del self._log[:-LOG_LIMIT]
        return bool(chunk)

    def _refuse_unexpected(self) -> None:
        """Stop an engine with unexpected output, which would be taken for the next answer."""
        if not self._finalizer.alive:
            raise EngineDiedError(f"The {self.plan.what} is closed.")
        line = None if self._unread else self._read_answer()
        if line is not None or self._unread:
            said = (line or self._unread)[:200].decode(errors="replace")
            self.fail(EngineProtocolError, f"sent unexpected output: {said!r}")

    def mark_dead(self, reason: str = "") -> NoReturn:
        """Report a process that has ended or announced its end, maybe for lack of memory."""
        try:
            code: int | None = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            code = None
        else:
            # Its children (a wrapper script's engine) may live on in its group, whose id is not
            # reused meanwhile.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._drain_log()
        kind = EngineMemoryError if OUT_OF_MEMORY in self.log_tail.lower() else EngineDiedError
        self.fail(kind, f"{_ending(code)}{reason and f' ({reason})'}")

    def _drain_log(self) -> None:
        while self._read_log():
            pass

    def fail(self, kind: type[EngineLostError], happening: str) -> NoReturn:
        """Stop the process and raise an error with the event and the end of its log."""
        self._drain_log()
        self.close()
        tail = self.log_tail
        log = f"\nIts last words:\n{tail[-2000:]}" if tail else ""
        when = "" if self._started else " (while it started)"
        raise kind(
            f"The {self.plan.what} {happening}{when}. It was stopped, its goal states are gone, "
            f"and the next call starts a new one.{log}"
        )


def _spawn(plan: LaunchPlan) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            plan.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=plan.cwd,
            env=dict(plan.env),
            start_new_session=True,  # one group to kill, not reached by the terminal's Ctrl-C
        )
    except OSError as error:
        raise EngineUnavailableError(
            f"The {plan.what} cannot be started: {error.strerror or error} ({plan.argv[0]})."
        ) from error


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the leader of a process group, and its children."""
    if process.returncode is None:  # its pid cannot be reused before it is reaped
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    for stream in (process.stdin, process.stdout, process.stderr):
        os.set_blocking(stream.fileno(), False)
    return process.stdin, process.stdout, process.stderr


def _stop(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill the process group and reap it. Runs at the latest when the interpreter shuts down."""
    if os.getpid() != owner:  # what only a thread of the parent held is dropped in a forked child
        return
    # Even if its leader has ended, since children may live on in its group. The group's id can be
    # reused only after the leader is reaped, so it is killed before that.
    kill_group(process)
    with process:  # which closes the pipes and reaps it
        pass


def _ending(code: int | None) -> str:
    if code is None:
        return "closed its output"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit status {code}"
