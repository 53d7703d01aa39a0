"""Where plugins for contract 1.0 import ``chunks`` from."""

from lean_dojo_plugins.training.rows import chunks

__all__ = ["chunks"]
