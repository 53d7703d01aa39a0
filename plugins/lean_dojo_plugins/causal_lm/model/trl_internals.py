"""What the label head uses of TRL's inside: it takes the place of TRL's fused LM head.

See :mod:`lean_dojo_plugins.training.trl_version`.
"""

from typing import Any

RELIED_ON = {
    "trl.trainer.utils:FusedCausalLMOutput": "5ccdd6e41dcb",
    "trl.trainer.utils:add_fused_lm_head": "422d009f04b6",
}
"""Hashes of the source of what this module relies on; a test names what changed."""


def fused_output(**scores: Any) -> Any:
    """Return the scores of labels, each ``(batch, length)``, as TRL's fused head does."""
    from trl.trainer.utils import FusedCausalLMOutput  # proving needs no TRL

    return FusedCausalLMOutput(**scores)
