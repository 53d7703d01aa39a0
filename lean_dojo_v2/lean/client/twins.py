"""The ``…_async`` twins of a server's methods, for use inside an event loop.

A twin runs the method in a thread. Cancelling it stops the waiting, not the request: that goes on
until it is answered or its time is over.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from lean_dojo_v2.lean.client.connection import Connection
from lean_dojo_v2.lean.client.environment import EnvironmentCommands
from lean_dojo_v2.lean.client.frontend import FrontendCommands
from lean_dojo_v2.lean.client.goals import GoalCommands

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


def in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Make the twin of a method."""

    @functools.wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    twin.__name__ = twin.__qualname__ = f"{method.__name__}_async"
    return twin


class AsyncCommands(GoalCommands, EnvironmentCommands, FrontendCommands):
    """All commands, each in both forms."""

    restart_async = in_thread(Connection.restart)
    run_async = in_thread(Connection.run)
    ask_async = in_thread(Connection.ask)
    gc_async = in_thread(Connection.gc)
    stat_async = in_thread(Connection.stat)

    goal_start_async = in_thread(GoalCommands.goal_start)
    goal_tactic_async = in_thread(GoalCommands.goal_tactic)
    parse_tactic_async = in_thread(GoalCommands.parse_tactic)
    request_state_async = in_thread(GoalCommands.request_state)
    goal_continue_async = in_thread(GoalCommands.goal_continue)
    goal_resume_async = in_thread(GoalCommands.goal_resume)
    goal_root_async = in_thread(GoalCommands.goal_root)
    goal_print_async = in_thread(GoalCommands.goal_print)
    goal_subsume_async = in_thread(GoalCommands.goal_subsume)
    goal_save_async = in_thread(GoalCommands.goal_save)
    goal_load_async = in_thread(GoalCommands.goal_load)

    expr_type_async = in_thread(EnvironmentCommands.expr_type)
    env_inspect_async = in_thread(EnvironmentCommands.env_inspect)
    env_catalog_async = in_thread(EnvironmentCommands.env_catalog)
    env_module_read_async = in_thread(EnvironmentCommands.env_module_read)
    env_describe_async = in_thread(EnvironmentCommands.env_describe)
    env_save_async = in_thread(EnvironmentCommands.env_save)
    env_load_async = in_thread(EnvironmentCommands.env_load)
    env_parse_async = in_thread(EnvironmentCommands.env_parse)
    env_add_async = in_thread(EnvironmentCommands.env_add)

    process_async = in_thread(FrontendCommands.process)
    tactic_invocations_async = in_thread(FrontendCommands.tactic_invocations)
    check_compile_async = in_thread(FrontendCommands.check_compile)
    load_header_async = in_thread(FrontendCommands.load_header)
    load_definitions_async = in_thread(FrontendCommands.load_definitions)
    load_sorry_async = in_thread(FrontendCommands.load_sorry)
    check_track_async = in_thread(FrontendCommands.check_track)
    refactor_search_target_async = in_thread(FrontendCommands.refactor_search_target)
