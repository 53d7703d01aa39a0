"""Theorems of Lean's own library as problems, each without itself in scope."""
