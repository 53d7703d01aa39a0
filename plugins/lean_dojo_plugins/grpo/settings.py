"""The settings of GRPO, in the documented order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from lean_dojo_plugins.causal_lm import CausalBase
from lean_dojo_plugins.training import LORA, TrainsOnStatements, lora_of
from lean_dojo_v2.settings import about, fields, setting

if TYPE_CHECKING:
    from peft import LoraConfig

TACTIC_PROMPT = "tactic-prompt"
ALL_TOKENS, FIRST_TOKEN = "tactic", "first-token"


@attrs.define(slots=False, eq=False)
class GRPOArguments(CausalBase):
    """The documented order, in which the reward comes after the model."""

    reward_func: Any = setting(
        None,
        "Reward: a function, a plugin's name, a list of these, or names with weights. "
        "Required, except with episodes, where null rewards the proof alone.",
    )
    output_dir: str = attrs.field(
        default="outputs",
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        metadata=about("Folder for the trained model and its tokenizer.", shapes_result=False),
    )
    epochs_per_repo: int = setting(
        1, "Passes over the merged data for each repository.", fields.positive_int
    )
    batch_size: int = setting(
        1,
        "Completions per device and backward pass; group sizes are fitted to it.",
        fields.positive_int,
    )
    lr: float = setting(
        2e-5,
        "Peak learning rate; the documented default suits LoRA and is 20 times TRL's: use 1e-6 "
        "to train all weights.",
        fields.positive,
    )
    lora_config: LoraConfig | None = attrs.field(
        default=None,
        converter=lora_of,
        metadata=about("Train only a LoRA adapter with this configuration.", types=LORA),
    )


@attrs.define(slots=False, eq=False, kw_only=True)
class GRPOSettings(TrainsOnStatements, GRPOArguments):
    """What a user of GRPO sets."""

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
