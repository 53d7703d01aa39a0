"""Theorems of Lean 4 as a taskset of verifiers."""

from lean_dojo_verifiers.taskset import LeanTaskset

__all__ = ["LeanTaskset"]
