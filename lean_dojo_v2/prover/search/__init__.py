"""Best-first proof search: its limits, its tree, its result."""
