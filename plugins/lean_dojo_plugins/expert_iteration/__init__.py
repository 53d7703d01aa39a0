"""Expert iteration: search, keep what Lean confirms, learn from it, search again."""
