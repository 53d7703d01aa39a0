"""Texts that a causal language model reads and learns to write."""
