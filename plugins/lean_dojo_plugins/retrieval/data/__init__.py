"""Training data of a retriever: premises, states, batches."""
