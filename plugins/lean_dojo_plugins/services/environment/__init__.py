"""Theorems as environments, for models that prove with tools."""
