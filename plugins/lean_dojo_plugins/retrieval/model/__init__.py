"""The retriever model, its training state and its metrics."""
