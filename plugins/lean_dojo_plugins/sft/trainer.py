"""Supervised fine-tuning of a causal language model on traced tactics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import attrs
import torch
from datasets import Dataset
from torch.optim import AdamW, Muon, Optimizer
from transformers import TrainingArguments
from trl.trainer import sft_trainer as trl_sft
from trl.trainer.sft_config import SFTConfig

from lean_dojo_core import Database, Repository
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.causal_lm.model.label_head import add_label_head
from lean_dojo_plugins.causal_lm.text.tokenisation import IGNORED, Tokeniser
from lean_dojo_plugins.causal_lm.trainer import CausalTrainer
from lean_dojo_plugins.training.curriculum import CurriculumStep
from lean_dojo_plugins.training.data import HumanShare
from lean_dojo_plugins.training.rows import GroupingTrainer
from lean_dojo_v2 import fields
from lean_dojo_v2.fields import setting

_DOCUMENTED = "the documents fix it for SFTTrainer"
MUON = "muon"
"""An optimiser beside those of transformers: ``trainer_args={"optim": "muon"}``."""


@attrs.define(slots=False, eq=False, kw_only=True)
class SFTTrainer(CausalTrainer):
    """Fine-tunes a model to give the next tactic at a goal.

    For each repository in turn, exports the merged data of all so far, trains
    ``epochs_per_repo`` epochs with ``trl.SFTTrainer`` on the tactics of ``random/train.json``, and
    saves model (or LoRA adapter) and tokenizer to ``output_dir``. Only the tactic and its
    end-of-turn token carry loss.

    Weights in bfloat16 hardly learn at usual learning rates, so trained weights are float32 and the
    arithmetic is bfloat16 (see
    :mod:`lean_dojo_plugins.causal_lm.model.loading`).

    >>> trainer = SFTTrainer(model_name="owner/model", batch_size=2, trainer_args={"packing": True})
    Traceback (most recent call last):
    lean_dojo_core.errors.ConfigError: trainer_args.packing cannot be set: ...
    """

    config_class: ClassVar[type[TrainingArguments]] = SFTConfig
    fixed_args: ClassVar[Mapping[str, str]] = {
        **CausalTrainer.fixed_args,
        "packing": f"{_DOCUMENTED} (False)",
        "completion_only_loss": f"{_DOCUMENTED} (True)",
        "assistant_only_loss": "completion_only_loss already restricts the loss to the assistant",
        "dataset_kwargs": "the formatter defines the rows",
        "dataset_text_field": "the formatter defines the rows",
        "truncation_mode": "goals that are too long are shortened, never the tactic",
        "include_num_input_tokens_seen": "num_tokens is logged in any case",
        "shuffle_dataset": "every epoch is shuffled; see train_sampling_strategy",
    }
    required_columns: ClassVar[tuple[str, ...]] = ("prompt", "completion")

    prompt_weight: float = setting(
        0.0,
        "Weight of a prompt token in the loss, where a tactic token has weight 1; 0: only the "
        "tactic counts. Above 0, a model trained from scratch also learns to read goals.",
        fields.not_negative,
    )
    human_share: float = setting(
        1.0,
        "Share of the training theorems whose human proofs are learned; their names decide which.",
        fields.share,
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name, value in (("loss_type", "nll"), ("label_smoothing_factor", 0)):
            if self.prompt_weight and self.trainer_args.get(name, value) != value:
                raise ConfigError(f"trainer_args.{name} conflicts with prompt_weight above 0")

    def train(self, repos: Sequence[Repository], database: Database, data_path: Path | str) -> None:
        """Train on the repositories in their order; see :class:`CausalTrainer`."""
        shown: Any = database if self.human_share == 1 else HumanShare(database, self.human_share)
        super().train(repos, shown, data_path)

    def step_config(self, step: CurriculumStep, **fixed: Any) -> Any:
        """Make the configuration of one step's trainer; ``muon`` is unknown to transformers."""
        if self.trainer_args.get("optim") == MUON:
            fixed = {"optim": "adamw_torch", **fixed}
        return super().step_config(step, **fixed)

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Tokenise the rows; the labels mask everything but the assistant's turn."""
        tokeniser = Tokeniser(self.tokenizer, self.max_length, self.too_long)
        for example in tokeniser.examples(rows):
            yield {**attrs.asdict(example, recurse=False), "length": len(example.input_ids)}

    def build_step_trainer(self, dataset: Dataset, step: CurriculumStep) -> _StepTrainer:
        """Build TRL's trainer for one step."""
        sampling = self.trainer_args.get("train_sampling_strategy", "group_by_length")
        config = self.step_config(
            step,
            packing=False,
            completion_only_loss=True,
            dataset_kwargs={"skip_prepare_dataset": True},
            max_length=None,  # the rows are cut already
            train_sampling_strategy=sampling,
        )
        trainer = _StepTrainer(
            model=self.model, args=config, train_dataset=dataset, processing_class=self.tokenizer
        )
        trainer.prompt_weight = self.prompt_weight
        trainer.uses_muon = self.trainer_args.get("optim") == MUON
        add_label_head(trainer.model)
        return trainer


class _StepTrainer(GroupingTrainer, trl_sft.SFTTrainer):
    """TRL's trainer, with batches of similar length and the loss on the tactic."""

    prompt_weight: float = 0.0
    uses_muon: bool = False

    @property
    def _total_train_tokens(self) -> int:
        """Tokens so far, kept in checkpoints, unlike TRL's own count."""
        return int(self.state.num_input_tokens_seen)

    @_total_train_tokens.setter
    def _total_train_tokens(self, count: int) -> None:
        self.state.num_input_tokens_seen = count

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        if not self.uses_muon:
            return super().create_optimizer(model)
        if self.optimizer is None:
            chosen = cast("torch.nn.Module", model or self.model)
            self.optimizer = MuonWithAdamW(chosen, self.args.learning_rate, self.args.weight_decay)
        return self.optimizer

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        compute: Any = super().compute_loss
        scored = partial(_weighted, model, self.prompt_weight) if self.prompt_weight else model
        return compute(scored, inputs, return_outputs, num_items_in_batch)


def _weighted(
    model: Any, prompt_weight: float, *, labels: torch.Tensor, **inputs: torch.Tensor
) -> Any:
    """Add the prompts' loss; TRL's metrics cover only the tactics' tokens."""
    everything = inputs["input_ids"].clone()
    if (mask := inputs.get("attention_mask")) is not None:
        everything[mask == 0] = IGNORED
    if (positions := inputs.get("position_ids")) is not None:  # padding-free
        everything[positions == 0] = IGNORED
    outputs = model(labels=everything, **inputs)
    is_tactic = labels[:, 1:] != IGNORED
    weights = torch.where(is_tactic, 1.0, prompt_weight) * outputs.label_mask
    # TRL divides the sum by the number of the tactics' tokens, here or in an optimiser step.
    outputs.log_probs = outputs.log_probs * weights * (is_tactic.sum() / weights.sum())
    outputs.entropy = outputs.entropy * is_tactic
    outputs.is_top1 = outputs.is_top1 & is_tactic
    outputs.label_mask = is_tactic
    return outputs


class MuonWithAdamW(Optimizer):
    """Muon for the matrices of a small model, AdamW for its other parameters.

    Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon) makes each step of a matrix
    orthogonal; a small model learns to copy from its context in fewer steps than with AdamW alone.
    It is for hidden matrices only: gains, embeddings and the head keep AdamW. Muon's steps are
    scaled to the size of AdamW's, so both have the peak learning rate ``lr``.
    """

    def __init__(self, model: torch.nn.Module, lr: float, weight_decay: float = 0.1) -> None:
        outer = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
        if (head := getattr(model, "get_output_embeddings", lambda: None)()) is not None:
            outer.append(head)
        outside = {id(weight) for module in outer for weight in module.parameters()}
        matrices: list[torch.nn.Parameter] = []
        rest: list[torch.nn.Parameter] = []
        for weight in model.parameters():
            if weight.requires_grad:
                is_hidden = weight.ndim == 2 and id(weight) not in outside
                (matrices if is_hidden else rest).append(weight)
        self._both: list[Optimizer] = []
        if matrices:
            self._both.append(
                Muon(matrices, lr=lr, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
            )
        if rest:  # empty for an adapter
            self._both.append(AdamW(rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.0))
        super().__init__([group for one in self._both for group in one.param_groups], {})

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move all parameters by one step."""
        if closure is not None:
            with torch.enable_grad():
                closure()
        # Groups and state are this optimiser's, whoever loaded them last: accelerate puts copies in
        # their place, and a scheduler changes those.
        for one, group in zip(self._both, self.param_groups, strict=True):
            one.param_groups, one.state = [group], self.state
            one.step()
