"""How Lean is spelt: tokens, headers, statements, sources, positions."""
