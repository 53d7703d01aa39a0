"""LeanDojo-v2: train AI theorem provers for Lean 4."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    """Look up the version lazily, since importing package metadata doubles the start-up time."""
    if name == "__version__":
        from importlib.metadata import version

        return version("lean-dojo-v2")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
