"""Theorems as environments, for models that prove with tools."""

from lean_dojo_v2.environment.environment import LeanProofEnvironment

__all__ = ["LeanProofEnvironment"]
