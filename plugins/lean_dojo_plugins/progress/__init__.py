"""Prediction of the number of proof steps that remain (LeanProgress)."""
