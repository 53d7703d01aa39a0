"""The few names by which this room reaches into the learning room above it.

`lean_dojo_v2` never imports `lean_dojo_plugins`: trainers, formatters and rewards come through the
registry. What the documents name besides (provers that hold a model) is listed here, once.
"""

from __future__ import annotations

import importlib
from typing import Any

TARGETS = {
    "HFProver": "lean_dojo_plugins.causal_lm.generate.prover:HFProver",
    "RetrievalProver": "lean_dojo_plugins.retrieval.search.prover:RetrievalProver",
    "resolve_rewards": "lean_dojo_plugins.rewards.resolve:resolve_rewards",
    "Demo": "lean_dojo_plugins.demo.run:Demo",
    "DemoSettings": "lean_dojo_plugins.demo.settings:DemoSettings",
    "ProgressModel": "lean_dojo_plugins.progress.estimator:ProgressModel",
}
"""Each name with its ``module:attribute``."""


def reach(name: str) -> Any:
    """Import one of the names of :data:`TARGETS`."""
    module, _, attribute = TARGETS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
