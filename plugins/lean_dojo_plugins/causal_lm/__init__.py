"""What trainers and provers of causal language models share."""
