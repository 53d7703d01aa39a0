"""The host's side of plugins: look-up by name, optional methods."""
