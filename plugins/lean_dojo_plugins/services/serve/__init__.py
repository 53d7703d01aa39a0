"""Verdicts over HTTP: tactics, proofs, files and rewards."""
