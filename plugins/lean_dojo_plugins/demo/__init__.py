"""The demo: the whole story on the shipped sample, in public commands."""
