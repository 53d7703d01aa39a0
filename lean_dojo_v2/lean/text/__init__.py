"""Lean's text: tokens, headers, statements, sources, positions."""
