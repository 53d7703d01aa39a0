"""Supervised fine-tuning of a causal language model on traced tactics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from lean_dojo_core import Database, Repository
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins import causal_lm, training
from lean_dojo_v2.settings import fields, setting

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import TrainingArguments

    from lean_dojo_plugins.sft.step_trainer import SFTStepTrainer

_DOCUMENTED = "the documents fix it for SFTTrainer"
MUON = "muon"
"""An optimiser beside those of transformers: ``trainer_args={"optim": "muon"}``."""


@attrs.define(slots=False, eq=False, kw_only=True)
class SFTSettings(causal_lm.CausalSettings):
    """Settings of fine-tuning on proofs."""

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


@attrs.define(slots=False, eq=False, kw_only=True)
class SFTTrainer(SFTSettings, causal_lm.CausalTrainer):
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

    config_class: ClassVar[type[TrainingArguments] | str] = "trl:SFTConfig"
    fixed_args: ClassVar[Mapping[str, str]] = {
        **causal_lm.CausalTrainer.fixed_args,
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

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name, value in (("loss_type", "nll"), ("label_smoothing_factor", 0)):
            if self.prompt_weight and self.trainer_args.get(name, value) != value:
                raise ConfigError(f"trainer_args.{name} conflicts with prompt_weight above 0")

    def preflight(self) -> None:
        """Check what training will need, including that TRL can weigh prompts."""
        if self.prompt_weight:
            training.require_known_trl("prompt_weight")
        super().preflight()

    def train(self, repos: Sequence[Repository], database: Database, data_path: Path | str) -> None:
        """Train on the repositories in their order; see :class:`CausalTrainer`."""
        share = None if self.human_share == 1 else self.human_share
        source = training.DatabaseSource(*training.checked_repositories(repos, database), share)
        self.train_on(source, Path(data_path))

    def step_config(self, step: training.CurriculumStep, **fixed: Any) -> Any:
        """Make the configuration of one step's trainer; ``muon`` is unknown to transformers."""
        if self.trainer_args.get("optim") == MUON:
            fixed = {"optim": "adamw_torch", **fixed}
        return super().step_config(step, **fixed)

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Tokenise the rows; the labels mask everything but the assistant's turn."""
        tokeniser = causal_lm.Tokeniser(self.tokenizer, self.max_length, self.too_long)
        for example in tokeniser.examples(rows):
            yield {**attrs.asdict(example, recurse=False), "length": len(example.input_ids)}

    def build_step_trainer(self, dataset: Dataset, step: training.CurriculumStep) -> SFTStepTrainer:
        """Build TRL's trainer for one step."""
        from lean_dojo_plugins.sft.step_trainer import SFTStepTrainer
        from lean_dojo_plugins.sft.trl_internals import WeightedStepTrainer

        sampling = self.trainer_args.get("train_sampling_strategy", "group_by_length")
        config = self.step_config(
            step,
            packing=False,
            completion_only_loss=True,
            dataset_kwargs={"skip_prepare_dataset": True},
            max_length=None,  # the rows are cut already
            train_sampling_strategy=sampling,
        )
        trainer = (WeightedStepTrainer if training.knows_trl() else SFTStepTrainer)(
            model=self.model, args=config, train_dataset=dataset, processing_class=self.tokenizer
        )
        trainer.prompt_weight = self.prompt_weight
        trainer.uses_muon = self.trainer_args.get("optim") == MUON
        causal_lm.add_label_head(trainer.model)
        return trainer
