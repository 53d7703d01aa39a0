"""One client for every engine that speaks Pantograph's REPL protocol.

:class:`Server` has the names and the behaviour of PyPantograph's ``Server``, so either can be
handed to a prover. What it adds: it may be used from several threads and inside a running event
loop; every call has a time limit; an engine that dies, hangs or outgrows its memory is replaced at
the next call; nothing survives it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from lean_dojo_v2.lean.client.twins import AsyncCommands


class Server(AsyncCommands):
    """A Lean engine with an environment, goal states and texts to process.

    Every method has a twin ``…_async`` that waits in a thread.

    Args:
        imports: Modules to import.
        project_path: A Lake project; with the native engine its compiled modules may be imported.
        lean_path: Where compiled modules lie, for the native engine; Lake is asked when not given.
        options: Pantograph's options, for example ``{"automaticMode": False}``.
        core_options: Options of Lean, each ``"name=value"``.
        timeout: Seconds that a call may take; each call may be given its own.
        buffer_limit: Bytes that one answer may have; 256 MB if not given.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``; see
            :mod:`lean_dojo_v2.lean.engines.selection`.
        memory_limit_mb: Resident megabytes at which the engine is stopped.
        start_timeout: Seconds that the engine may take to become ready.
        start: Start the engine now, not at the first call.

    Raises:
        UsageError: There is no engine of that name.
        EngineUnavailableError: No engine can serve this.
        EngineLostError: The engine did not become ready.

    Example::

        with Server() as server:
            state = server.goal_start("∀ n : Nat, n + 0 = n")
            state = server.goal_tactic(state, "intro n")
            state = server.goal_tactic(state, "rfl")
            assert state.is_solved
    """

    @classmethod
    async def create(cls, *args: Any, start: bool = True, **kwargs: Any) -> Self:
        """Make a server inside an event loop; the parameters are the constructor's."""
        server = cls(*args, start=False, **kwargs)
        if start:
            await asyncio.to_thread(server.restart)
        return server
