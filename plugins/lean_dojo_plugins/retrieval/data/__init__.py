"""What a retriever learns from: premises, states, batches."""
