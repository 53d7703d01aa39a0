"""Tracing: Lean repositories in, theorems, tactics and premises out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_dojo_v2.tracing.repository import LeanGitRepo
    from lean_dojo_v2.tracing.tracer import FileDone, trace_repository

__all__ = ["FileDone", "LeanGitRepo", "trace_repository"]

_HOMES = {"FileDone": "tracer", "LeanGitRepo": "repository", "trace_repository": "tracer"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
