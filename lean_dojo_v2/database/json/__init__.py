"""Repositories in a JSON file: ``dynamic_database.json``."""
