"""Whether to believe it: screening, tactics, whole proofs."""
