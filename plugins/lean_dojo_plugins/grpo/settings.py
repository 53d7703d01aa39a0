"""The settings of GRPO, in the documented order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from lean_dojo_plugins.causal_lm import CausalTrainer, ModelSettings
from lean_dojo_plugins.training import TrainsOnStatements
from lean_dojo_v2.settings import about, fields, setting

TACTIC_PROMPT = "tactic-prompt"
ALL_TOKENS, FIRST_TOKEN = "tactic", "first-token"


@attrs.define(slots=False, eq=False)
class RewardSettings(ModelSettings):
    """The reward, which the documented order has after the model and before all else."""

    reward_func: Any = setting(
        None,
        "Reward: a function, a plugin's name, a list of these, or names with weights. "
        "Required, except with episodes, where null rewards the proof alone.",
    )


@attrs.define(slots=False, eq=False, kw_only=True)
class GRPOSettings(TrainsOnStatements, CausalTrainer, RewardSettings):
    """What a user of GRPO sets. Classes that are named last come first in the order."""

    formatter: str = setting(TACTIC_PROMPT, "Dataset formatter that turns theorems into rows.")
    turns: int = setting(
        1,
        "Turns of the model for a statement: Lean's answer to a failed proof is the next message, "
        "and the loss covers the model's turns only.",
        fields.positive_int,
    )
    share_prompts: bool = setting(
        True,
        "Compute each prompt once per group if the model's attention allows it: faster, with the "
        "same values and gradients.",
        shapes_result=False,
    )
    process_weight: float = setting(
        0.0,
        "Weight of what a reward says of parts of a completion, such as proof-verified of each "
        "tactic, beside the advantage over the group; 0: only the reward's number counts.",
        fields.not_negative,
    )
    process_credit: Literal["tactic", "first-token"] = setting(
        "tactic",
        "Which tokens of a part get its value: tactic, all of them; first-token, the first one.",
        fields.one_of(ALL_TOKENS, FIRST_TOKEN),
    )
    human_share: float = setting(
        0.0,
        "Share of the training theorems whose human proofs the model has learned, as sft chooses "
        "it: they are left out.",
        fields.share,
    )
    episodes: bool = setting(
        False,
        "Play whole proofs, step by step from each theorem's first goal; a proof that passes the "
        "full verification earns 1 at all its steps.",
    )
    episode_steps: int = setting(8, "Maximum number of tactics per episode.", fields.positive_int)
    replacements: int = setting(
        2,
        "How often a batch replaces groups of episodes in which all or none succeed.",
        fields.not_negative_int,
    )
    engines: int = setting(2, "Lean engines per repository, for episodes.", fields.positive_int)
    projects: Mapping[str, Path] = attrs.field(
        factory=dict,
        converter=fields.folders,
        metadata=about("Folder of each repository, by address, for episodes."),
    )
