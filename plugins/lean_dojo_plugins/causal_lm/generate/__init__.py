"""Tactic generation with a causal language model, and its prover."""
