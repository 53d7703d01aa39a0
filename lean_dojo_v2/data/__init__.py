"""Traced data as plain records: repositories, difficulty, JSON."""
