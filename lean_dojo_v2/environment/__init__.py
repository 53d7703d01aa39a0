"""Theorems as environments, for whoever trains or runs a model that proves by tools."""

from lean_dojo_v2.environment.environment import LeanProofEnvironment

__all__ = ["LeanProofEnvironment"]
