"""The host's side of plugins: installation, look-up by name, time limits."""
