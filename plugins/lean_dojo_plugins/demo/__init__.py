"""The demo: the whole pipeline on the shipped sample."""
