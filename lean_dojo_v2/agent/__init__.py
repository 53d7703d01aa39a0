"""Agents: one object that traces, trains, and proves."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_dojo_v2.agent.base_agent import BaseAgent
    from lean_dojo_v2.agent.external_agent import ExternalAgent
    from lean_dojo_v2.agent.hf_agent import HFAgent
    from lean_dojo_v2.agent.lean_agent import LeanAgent
    from lean_dojo_v2.agent.prover_agent import ProverAgent

__all__ = ["BaseAgent", "ExternalAgent", "HFAgent", "LeanAgent", "ProverAgent"]

_HOMES = {
    "BaseAgent": "base_agent",
    "ExternalAgent": "external_agent",
    "HFAgent": "hf_agent",
    "LeanAgent": "lean_agent",
    "ProverAgent": "prover_agent",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
