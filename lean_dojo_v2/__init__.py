"""LeanDojo-v2: train AI theorem provers for Lean 4."""

from __future__ import annotations

from importlib.metadata import version as _version

__version__ = _version("lean-dojo-v2")
