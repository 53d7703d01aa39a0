"""Proof search: provers, the search itself, and its results.

``HFProver`` and ``RetrievalProver`` are plugins, found through the registry when they are used.
"""

from typing import Any

import lazy_loader

_PLUGINS = {"HFProver": "hf", "RetrievalProver": "retrieval"}
_own, _dir, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name not in _PLUGINS:
        return _own(name)
    from lean_dojo_core import registry
    from lean_dojo_v2.kinds import provers

    return registry.builtin(provers, _PLUGINS[name])


def __dir__() -> list[str]:
    return [*_dir(), *_PLUGINS]
