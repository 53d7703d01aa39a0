"""Repositories in an SQLite file."""
