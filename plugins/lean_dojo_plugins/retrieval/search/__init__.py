"""Use of a trained retriever: index, retrieval, proving."""
