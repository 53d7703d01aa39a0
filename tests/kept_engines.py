"""Embedded engines outlive the servers that closed them: the next server takes one over.

An engine takes seconds to start, and most servers and pools of tests want the same: ``Init``, no
options, the same project or none. So what such a server closes in good order is made as new and
kept: one engine without a project and one with, of a gigabyte each, for each process of pytest.
What a test kills is dead, and what it starts without a server is not touched.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest

from lean_dojo_v2.lean.client import server
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.process import DEFAULT_ANSWER_LIMIT, EngineProcess, LaunchPlan
from lean_dojo_v2.lean.errors import EngineLostError

MEMORY_MB = 1_500
"""What has grown beyond is not kept."""
SECONDS = 30.0
REQUIRED_MB = 3_000
"""Engines with a smaller limit are not shared: the kernel holds it for the process's whole life."""


class KeptEngines:
    """What was closed and may serve again.

    Attributes:
        keeping: Whether engines are kept and given at present.
    """

    def __init__(self) -> None:
        self.keeping = True
        self._idle: dict[bool, EngineProcess] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def take(self, plan: LaunchPlan) -> EngineProcess | None:
        """Give an engine that is as one newly started from ``plan``."""
        kind = _of_project(plan)
        with self._lock:
            process = self._idle.get(kind)
            if process is None or _words(process.plan) != _words(plan):
                return None
            del self._idle[kind]
        return process if process.alive else None

    def put(self, process: EngineProcess) -> None:
        """Take an engine that nobody uses, in place of an earlier one."""
        if process.memory_mb < MEMORY_MB and _renew(process):
            with self._lock:
                kind = _of_project(process.plan)
                earlier, self._idle[kind] = self._idle.get(kind), process
        else:
            earlier = process
        if earlier is not None:
            earlier.close()

    def close(self) -> None:
        """Stop them all."""
        while self._idle:
            self._idle.popitem()[1].close()


def _words(plan: LaunchPlan) -> tuple[str, ...]:
    """The words of a plan without the shell that sets the limits."""
    return plan.argv[4:]


def _of_project(plan: LaunchPlan) -> bool:
    return plan.argv[-2].startswith("--project=")


def _shared(plan: LaunchPlan, memory_limit_mb: int | None) -> bool:
    return (
        plan.kind == "embedded"
        and (memory_limit_mb is None or memory_limit_mb >= REQUIRED_MB)
        and plan.argv[-2].startswith(("--install=", "--project="))
        and plan.argv[-1] == "Init"  # no options behind it
    )


def _renew(process: EngineProcess) -> bool:
    """Make an engine as it was when it started: its environment, options and states."""
    header = {"file": "", "readHeader": True, "inheritEnv": True}
    try:
        settings = _ask(process, "options.print", {})
        wanted = {**dict.fromkeys(settings, False), **DEFAULTS}
        answers = [
            settings,
            _ask(process, "frontend.process", header),
            _ask(process, "reset", {}),
            _ask(process, "options.set", {name: wanted[name] for name in settings}),
        ]
    except EngineLostError:
        return False
    return not any("error" in answer or answer.get("tainted") for answer in answers)


DEFAULTS = {"printExprPretty": True, "automaticMode": True, "timeout": 0}
"""Pantograph's options that are not false in a new engine."""


def _ask(process: EngineProcess, command: str, fields: dict[str, Any]) -> dict[str, Any]:
    line = command.encode() + b" " + orjson.dumps(fields)
    answer: dict[str, Any] = orjson.loads(process.request(line, SECONDS))
    return answer


@contextmanager
def engines_kept() -> Iterator[KeptEngines]:
    """Let servers hand their engines on, as long as this lasts."""
    kept = KeptEngines()
    stop = Server._stop

    def start(
        plan: LaunchPlan,
        *,
        memory_limit_mb: int | None = None,
        answer_limit: int | None = None,
        **more: Any,
    ) -> EngineProcess:
        limits = {"memory_limit_mb": memory_limit_mb, "answer_limit": answer_limit}
        shared = kept.keeping and _shared(plan, memory_limit_mb)
        process = kept.take(plan) if shared else None
        if process is None:
            return EngineProcess(plan, **limits, **more)
        process.memory_limit_mb = memory_limit_mb
        process.answer_limit = answer_limit or DEFAULT_ANSWER_LIMIT
        return process

    def close(self: Server) -> None:
        process = self._process
        free = process is not None and process.alive and kept.keeping
        free = free and _shared(process.plan, self.memory_limit_mb) and not self.tainted
        if not free or not self._lock.acquire(blocking=False):  # another thread waits for it
            stop(self)
            return
        try:
            if self._process is process:
                self._process = None
                kept.put(process)
        finally:
            self._lock.release()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "EngineProcess", start)
        patch.setattr(Server, "_stop", close)
        try:
            yield kept
        finally:
            kept.close()
