"""Schedule requests over engines, and handle lost engines."""

import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

import attrs

from lean_dojo_v2.lean import errors
from lean_dojo_v2.lean.client.judge import Judge

ATTEMPTS = 2
"""Number of engines that a request may kill before it fails."""
LOOK_AHEAD = 256
"""Number of waiting requests searched for one with a loaded header."""
PATIENCE = 16
"""How often, per engine, the oldest request may be skipped for one with a warm header."""
WARM_HEADERS = 4
"""Number of headers that an engine is assumed to keep loaded."""
JOIN_SECONDS = 10.0
"""Seconds that closing waits for a request that is busy outside its engine."""


class Slot(Protocol):
    """A place for one engine: in this process, or in an actor elsewhere."""

    life: object
    """What changes when its engine is replaced, as of the last call; ``None`` if none runs."""

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], owner: str | None) -> Any:
        """Run ``fn(server, *args)`` on an engine that has elaborated no other owner's text.

        One that has then grown too large is stopped; the next call starts another.
        """

    def close(self) -> None:
        """Kill the engine for good, from any thread."""


@attrs.define(eq=False)
class Request:
    """A call that waits for an engine."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    name: str
    header: str | None = None
    owner: str | None = None
    passed_over: int = 0
    future: Future[Any] = attrs.Factory(Future)


@attrs.define(eq=False)
class Worker:
    """A slot and the headers that its engine has loaded, the last used last."""

    slot: Slot
    warm: OrderedDict[str, None] = attrs.Factory(OrderedDict)
    life: object = None

    def rank(self, request: Request) -> int:
        """Suitability for a request: 0 has the header, 1 has a running engine, 2 has none."""
        if request.header is not None and request.header in self.warm:
            return 0
        return 1 if self.life is not None else 2


class Scheduler:
    """Workers, one thread each, and the requests that wait for them."""

    def __init__(self, slots: list[Slot], judge: Judge) -> None:
        self._judge = judge
        self._owner = os.getpid()
        self._changed = threading.Condition()
        self._waiting: deque[Request] = deque()
        self._idle: list[Worker] = []
        self._workers = [Worker(slot) for slot in slots]
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), name="lean-engine", daemon=True)
            for worker in self._workers
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, request: Request) -> None:
        """Queue a request."""
        with self._changed:
            if self._closed:
                raise RuntimeError("the engine pool is closed")
            self._waiting.append(request)
            self._changed.notify_all()

    def close(self) -> None:
        """Cancel waiting requests, interrupt running ones, and stop all engines and the judge."""
        if os.getpid() != self._owner:  # a forked child has none of its threads
            return
        with self._changed:
            self._closed = True
            waiting, self._waiting = self._waiting, deque()
            self._changed.notify_all()
        for request in waiting:
            request.future.cancel()
        for worker in self._workers:
            worker.slot.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=JOIN_SECONDS)
        self._judge.close()

    def _work(self, worker: Worker) -> None:
        try:
            while (request := self._next(worker)) is not None:
                if request.future.set_running_or_notify_cancel():
                    self._perform(worker, request)
                del request  # its arguments and result must not live until the next one comes
        finally:
            worker.slot.close()  # again, if it was made while the scheduler closed

    def _next(self, worker: Worker) -> Request | None:
        """Wait for a request that this worker should take; ``None`` at the end."""
        with self._changed:
            self._idle.append(worker)
            try:
                while not self._closed:
                    request = self._pick(worker)
                    if request is not None:
                        self._waiting.remove(request)
                        return request
                    self._changed.wait()
                return None
            finally:
                self._idle.remove(worker)
                # Another idle worker may have left a request to this one.
                self._changed.notify_all()

    def _pick(self, worker: Worker) -> Request | None:
        if not self._waiting:
            return None
        oldest = self._waiting[0]
        if worker.warm and oldest.passed_over < PATIENCE * len(self._workers):
            for request, _ in zip(self._waiting, range(LOOK_AHEAD), strict=False):
                if worker.rank(request) == 0:
                    oldest.passed_over += request is not oldest
                    return request
        # An idle worker that suits better takes it: it was woken up as well.
        if any(other.rank(oldest) < worker.rank(oldest) for other in self._idle):
            return None
        return oldest

    def _perform(self, worker: Worker, request: Request) -> None:
        try:
            result = self._run(worker.slot, request)
        except BaseException as error:  # passed on to the caller
            self._note_header(worker, request)
            request.future.set_exception(error)
        else:
            self._note_header(worker, request)
            request.future.set_result(result)

    def _run(self, slot: Slot, request: Request) -> Any:
        """Run a request, with another engine if it kills the first one."""
        happened: list[str] = []
        while len(happened) < ATTEMPTS:
            try:
                return slot.call(request.fn, request.args, request.owner)
            except errors.EngineTimeoutError as error:
                # It would take as long again, so the time limit is the answer.
                error.add_note(f"Request: {request.name}")
                raise
            except errors.EngineLostError as error:
                happened.append(str(error))
                if self._closed:
                    closed = f"The pool was closed during request {request.name}."
                    raise errors.EngineDiedError(closed) from None
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(happened, 1))
        raise errors.EngineKilledError(
            f"Request {request.name} killed {len(happened)} engines; it has failed:\n{listed}"
        )

    def _note_header(self, worker: Worker, request: Request) -> None:
        """Record what the worker's engine has loaded."""
        with self._changed:
            life = worker.slot.life
            if life != worker.life or life is None:
                worker.warm.clear()
            worker.life = life
            if request.header is not None and life is not None:
                worker.warm[request.header] = None
                worker.warm.move_to_end(request.header)
                while len(worker.warm) > WARM_HEADERS:
                    worker.warm.popitem(last=False)
