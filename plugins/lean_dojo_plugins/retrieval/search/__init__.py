"""A trained retriever at work: index, retrieval, proving."""
