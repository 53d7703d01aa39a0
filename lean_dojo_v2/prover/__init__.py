"""Proof search: provers, the search itself, and its results."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lean_dojo_v2.upward import TARGETS, reach

if TYPE_CHECKING:
    from lean_dojo_plugins.causal_lm.generate.prover import HFProver
    from lean_dojo_plugins.retrieval.search.prover import RetrievalProver
    from lean_dojo_v2.prover.base import BaseProver
    from lean_dojo_v2.prover.external import ExternalProver
    from lean_dojo_v2.prover.search.best_first import BestFirstSearch
    from lean_dojo_v2.prover.search.result import SearchResult

__all__ = [
    "BaseProver",
    "BestFirstSearch",
    "ExternalProver",
    "HFProver",
    "RetrievalProver",
    "SearchResult",
]

_HOMES = {
    "BaseProver": "base",
    "BestFirstSearch": "search.best_first",
    "ExternalProver": "external",
    "SearchResult": "search.result",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__ and name in TARGETS:
        return reach(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
