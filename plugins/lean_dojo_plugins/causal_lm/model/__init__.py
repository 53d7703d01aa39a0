"""A causal language model in memory."""
