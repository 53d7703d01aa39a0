"""The retriever itself: how near a premise is to a state, and what it remembers."""
