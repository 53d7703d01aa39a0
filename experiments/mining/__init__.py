"""Proofs of theorems that come without one, step by step: data for a model that has none."""
