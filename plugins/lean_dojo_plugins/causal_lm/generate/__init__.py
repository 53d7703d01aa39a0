"""Tactics out of a causal language model, and the prover that asks for them."""
