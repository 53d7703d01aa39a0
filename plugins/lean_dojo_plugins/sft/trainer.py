"""Supervised fine-tuning of a causal language model on traced tactics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, cast

import attrs
from datasets import Dataset
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl.trainer import sft_trainer as trl_sft
from trl.trainer.sft_config import SFTConfig

from lean_dojo_plugins.causal_lm.model.label_head import add_label_head
from lean_dojo_plugins.causal_lm.text.tokenisation import Tokeniser
from lean_dojo_plugins.causal_lm.trainer import CausalTrainer
from lean_dojo_plugins.training.batches import LengthGroups
from lean_dojo_plugins.training.learner import CurriculumStep

_DOCUMENTED = "the documents fix it for SFTTrainer"


@attrs.define(slots=False, eq=False)
class SFTTrainer(CausalTrainer):
    """Fine-tunes a model to give the next tactic at a goal.

    For each repository in turn, exports the merged data of all so far, trains
    ``epochs_per_repo`` epochs with ``trl.SFTTrainer`` on the tactics of ``random/train.json``, and
    saves model (or LoRA adapter) and tokenizer to ``output_dir``. Only the tactic and its
    end-of-turn token carry loss.

    The documents say that the model is loaded in bfloat16. Weights in bfloat16 hardly learn at
    usual learning rates, so those that train are float32 and the arithmetic is bfloat16 (see
    :mod:`lean_dojo_plugins.causal_lm.model.loading`).

    >>> trainer = SFTTrainer(model_name="owner/model", batch_size=2, trainer_args={"packing": True})
    Traceback (most recent call last):
    lean_dojo_core.errors.ConfigError: trainer_args.packing cannot be set: ...
    """

    config_class: ClassVar[type[TrainingArguments]] = SFTConfig
    fixed_args: ClassVar[Mapping[str, str]] = {
        "packing": f"{_DOCUMENTED} (False)",
        "completion_only_loss": f"{_DOCUMENTED} (True)",
        "assistant_only_loss": "completion_only_loss already leaves the loss to the assistant",
        "dataset_kwargs": "the rows come ready from the formatter",
        "dataset_text_field": "the rows come ready from the formatter",
        "truncation_mode": "goals that are too long are shortened, never the tactic",
        "shuffle_dataset": "every epoch is shuffled; see train_sampling_strategy",
    }
    required_columns: ClassVar[tuple[str, ...]] = ("prompt", "completion")

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Tokenise the rows; the labels mask everything but the assistant's turn."""
        tokeniser = Tokeniser(self.tokenizer, self.max_length, self.too_long)
        for example in tokeniser.examples(rows):
            yield {
                "input_ids": example.input_ids,
                "labels": example.labels,
                "length": len(example.input_ids),
            }

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
        add_label_head(trainer.model)
        return trainer


class _StepTrainer(trl_sft.SFTTrainer):
    """TRL's trainer, with batches of similar length in an order that a resumed run repeats."""

    def _get_train_sampler(self, train_dataset: Dataset | None = None) -> Any:
        if self.args.train_sampling_strategy != "group_by_length":
            return super()._get_train_sampler(train_dataset)
        # By now transformers has dropped the columns that the model does not take from its copy.
        lengths = cast("Dataset", self.train_dataset)["length"][:]
        per_step = self.args.train_batch_size * self.args.gradient_accumulation_steps
        sampler = LengthGroups(lengths, per_step * self.args.world_size, self.args.seed)
        self.add_callback(_EpochOrder(sampler))
        return sampler


class _EpochOrder(TrainerCallback):
    """Tells the sampler the epoch; accelerate does not reach it behind skipped batches."""

    def __init__(self, sampler: LengthGroups) -> None:
        self.sampler = sampler

    def on_epoch_begin(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Choose the order of the epoch that begins."""
        self.sampler.set_epoch(int(state.epoch or 0))
