"""Plugins in and out: installing, switching off, finding, and what a plugin may take of time."""
