"""Expert iteration: search, keep verified proofs, train on them, search again."""
