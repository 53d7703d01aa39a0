"""Exports for trainers: splits, corpus and metadata, written and read as streams."""
