"""Code shared by trainers and provers of causal language models."""
