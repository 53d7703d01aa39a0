"""Lean: one client, one protocol (Pantograph's REPL), two engines.

Everything that needs Lean gets it here. Names are imported when they are used, so that
``import lean_dojo_v2.lean`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_dojo_v2.lean.errors import (
        EngineDiedError,
        EngineKilledError,
        EngineLostError,
        EngineMemoryError,
        EngineProtocolError,
        EngineTimeoutError,
        EngineUnavailableError,
        LeanError,
        ParseError,
        RequestError,
        RequestParseError,
        ServerError,
        StaleStateError,
        TacticError,
        TacticFailure,
        TacticParseError,
    )
    from lean_dojo_v2.lean.messages import (
        CheckTrackResult,
        CompilationUnit,
        Message,
        Position,
        SearchTarget,
        Severity,
        TacticInvocation,
    )
    from lean_dojo_v2.lean.pool import EnginePool, PoolConfig
    from lean_dojo_v2.lean.ray_pool import RayEnginePool
    from lean_dojo_v2.lean.records import (
        Expr,
        Goal,
        GoalState,
        Site,
        Subsumption,
        Tactic,
        TacticDraft,
        TacticExpr,
        TacticHave,
        TacticLet,
        TacticMode,
        Variable,
    )
    from lean_dojo_v2.lean.server import Server

_PLACES = {
    "errors": (
        "EngineDiedError",
        "EngineKilledError",
        "EngineLostError",
        "EngineMemoryError",
        "EngineProtocolError",
        "EngineTimeoutError",
        "EngineUnavailableError",
        "LeanError",
        "ParseError",
        "RequestError",
        "RequestParseError",
        "ServerError",
        "StaleStateError",
        "TacticError",
        "TacticFailure",
        "TacticParseError",
    ),
    "messages": (
        "CheckTrackResult",
        "CompilationUnit",
        "Message",
        "Position",
        "SearchTarget",
        "Severity",
        "TacticInvocation",
    ),
    "pool": ("EnginePool", "PoolConfig"),
    "ray_pool": ("RayEnginePool",),
    "records": (
        "Expr",
        "Goal",
        "GoalState",
        "Site",
        "Subsumption",
        "Tactic",
        "TacticDraft",
        "TacticExpr",
        "TacticHave",
        "TacticLet",
        "TacticMode",
        "Variable",
    ),
    "server": ("Server",),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "CheckTrackResult",
    "CompilationUnit",
    "EngineDiedError",
    "EngineKilledError",
    "EngineLostError",
    "EngineMemoryError",
    "EnginePool",
    "EngineProtocolError",
    "EngineTimeoutError",
    "EngineUnavailableError",
    "Expr",
    "Goal",
    "GoalState",
    "LeanError",
    "Message",
    "ParseError",
    "PoolConfig",
    "Position",
    "RayEnginePool",
    "RequestError",
    "RequestParseError",
    "SearchTarget",
    "Server",
    "ServerError",
    "Severity",
    "Site",
    "StaleStateError",
    "Subsumption",
    "Tactic",
    "TacticDraft",
    "TacticError",
    "TacticExpr",
    "TacticFailure",
    "TacticHave",
    "TacticInvocation",
    "TacticLet",
    "TacticMode",
    "TacticParseError",
    "Variable",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
