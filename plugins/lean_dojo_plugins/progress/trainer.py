"""The progress trainer: a model that predicts the remaining steps of a proof."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from lean_dojo_core import Database, Evaluation, Repository
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins import progress, training
from lean_dojo_plugins.causal_lm import is_adapter
from lean_dojo_v2 import lean_progress
from lean_dojo_v2.database import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import merged_data_dir
from lean_dojo_v2.prover import ProgressEstimator
from lean_dojo_v2.settings import fields, setting

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, TrainingArguments

    from lean_dojo_plugins.progress.estimator import Array

EXPORTED_NAME = "leanprogress.jsonl"
_MEASURED_AT_ONCE = 1024

_OURS = "it is the trainer's own parameter"
_BEST = "the best checkpoint is saved, and the error is measured once per epoch"
_WHOLE = "the error is measured on all held-out proofs at once"
_PRECISION = "the precision follows from the device"


_logger = fields.must_be("'tensorboard' or 'none'", lambda v: v in {"tensorboard", "none"})
_share = fields.must_be("a number between 0 and 1", lambda v: fields.is_number(v) and 0 < v < 1)


@attrs.define(slots=False, eq=False)
class ProgressTrainer(training.CurriculumTrainer):
    """Trains a model that predicts how many steps of a proof remain (LeanProgress).

    Batches hold examples of similar length, padded to their longest; the checkpoint with the lowest
    mean squared error on the held-out proofs is kept. A killed run resumes from its last epoch. The
    examples are tokenised to disk, so memory does not grow with them. ``lean-dojo show progress``
    lists the settings; ConfigError for a wrong type or value, UsageError if ``model_name`` can only
    be a path and nothing is there.
    """

    data_path: str | Path | None = setting(  # its content shapes the result, not its location
        None, "JSONL dataset, not needed with a database.", shapes_result=False
    )
    model_name: str = attrs.field(
        default="bert-base-uncased",
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        metadata=fields.about(
            "Model to start from, an encoder or a prover's language model: hub id or local folder."
        ),
    )
    output_dir: str = attrs.field(
        default="outputs",
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        metadata=fields.about("Folder for the model.", shapes_result=False),
    )
    max_length: int = setting(512, "Maximum number of tokens per input.", fields.positive_int)
    batch_size: int = setting(8, "Examples per device and step.", fields.positive_int)
    epochs: float = setting(3.0, "Passes over the training examples.", fields.positive)
    learning_rate: float = setting(1e-5, "Peak learning rate.", fields.positive)
    eval_ratio: float = setting(0.2, "Share of the examples to hold out.", _share)
    seed: int = setting(
        42, "Seed of the split, the new head and the order.", fields.not_negative_int
    )
    report_to: str = setting(
        "tensorboard", "tensorboard or none.", _logger, kw_only=True, shapes_result=False
    )
    _dataset: progress.ProgressDataset | None = attrs.field(default=None, init=False, repr=False)

    fixed_args: ClassVar[Mapping[str, str]] = {
        **training.FIXED_ARGUMENTS,
        "num_train_epochs": f"{_OURS} epochs",
        "learning_rate": f"{_OURS} learning_rate",
        "save_only_model": "a killed run could not resume",
        **dict.fromkeys(("bf16", "fp16", "bf16_full_eval", "fp16_full_eval"), _PRECISION),
        **dict.fromkeys(
            (
                "eval_strategy", "save_strategy", "load_best_model_at_end",
                "metric_for_best_model", "greater_is_better",
            ),
            _BEST,
        ),
        **dict.fromkeys(
            ("prediction_loss_only", "batch_eval_metrics", "eval_do_concat_batches"), _WHOLE
        ),
    }  # fmt: skip

    def __attrs_post_init__(self) -> None:
        training.check_trainer_args(training.ARGUMENTS, self.trainer_args, self.fixed_args)
        training.choose_device(self.device)
        if self.model_name != attrs.fields(type(self)).model_name.default:
            training.check_model_name(self.model_name)

    def preflight(self) -> None:
        """Check what training will need, before any data is prepared; loads no model."""
        if self.data_path is not None:
            if not Path(self.data_path).is_file():
                raise UsageError(
                    f"data_path: {self.data_path} is no file; name a JSONL dataset, or train on a "
                    "database"
                )
            if next(lean_progress.read_examples(self.data_path), None) is None:
                raise EmptyDatasetError("the file has no examples", path=self.data_path)
        if is_adapter(self.model_name):
            raise UsageError(
                f"model_name: {self.model_name} holds a LoRA adapter; merge it first: "
                f"lean-dojo merge-lora {self.model_name} -o FOLDER"
            )
        trial = training.CurriculumStep(0, 1, (), Path(self.output_dir), self.seed, 1)
        self.check_ready(self._arguments(trial))

    def train(
        self,
        repos: Sequence[Repository] | None = None,
        database: Database | None = None,
        data_path: Path | str | None = None,
    ) -> None:
        """Train on the JSONL file, or on a database's finished proofs, none of a held-out theorem.

        The proofs are those of ``repos``, by default of all repositories of the database; the
        dataset made of them goes to the folder ``data_path``. Without a database, the constructor's
        ``data_path`` is read.

        Raises:
            UsageError: If there is neither a dataset nor a database, or the output folder holds a
                run with other settings.
            DataError: For a bad line, with its number.
            EmptyDatasetError: If there is too little to train on.
        """
        if repos is not None:
            repos, database = training.checked_repositories(repos, database)
        self.preflight()
        folder = Path(data_path or merged_data_dir())
        with training.run_lock(self.output_dir, self.processes):
            if database is not None:
                file = folder / EXPORTED_NAME
                if self.processes.is_main_process:
                    chosen = database.repositories
                    if repos is not None:
                        wanted = {(one.url, one.commit) for one in repos}
                        chosen = [one for one in chosen if (one.url, one.commit) in wanted]
                    lean_progress.write_examples(file, lean_progress.training_examples(chosen))
                self.processes.wait_for_everyone()
                self.data_path = file
            self._dataset = progress.ProgressDataset(self._dataset_file())
            own = Path(self.output_dir, "data")  # apart from other runs' data
            training.Loop(self, self._dataset, own, noun=("dataset", "datasets")).run()
        if self.processes.is_main_process:
            print(f"Progress model saved to {self.output_dir}")
            print(f"To use it in proof search: export LEANPROGRESS_MODEL={self.output_dir}")

    def evaluate(self, data_path: str | Path | None = None, split: str = "val") -> Evaluation:
        """Measure the saved model.

        Args:
            data_path: A JSONL file to measure on completely, or a folder of merged data; by default
                the training file, also in a later process.
            split: ``"val"`` (the held-out part of the training file) or ``"train"``; ``"test"``:
                the proofs of ``random/test.json`` in the folder of merged data.

        Returns:
            ``mse``, ``mae`` (steps) and ``within_one`` (share predicted within one step).

        Raises:
            UsageError: If no training file is known, or it is not the one that was trained on.
            EmptyDatasetError: If the data have no example.
        """
        import numpy as np

        from lean_dojo_plugins.progress.estimator import ProgressModel, measures

        model = ProgressModel(self.output_dir, max_length=self.max_length, device=self.device)
        outputs: list[Array] = []
        labels: list[float] = []
        for some in training.chunks(self._measured(data_path, split), _MEASURED_AT_ONCE):
            outputs.append(model.outputs([example.text for example in some]))
            labels += [example.label for example in some]
        if not labels:
            raise EmptyDatasetError(f"there is nothing to measure on for the split {split!r}")
        return Evaluation(
            metrics=measures(np.concatenate(outputs), labels),
            examples=len(labels),
            split=split,
            model=self.output_dir,
        )

    def settings(self) -> dict[str, Any]:
        """Return all that affects the result, also the data; a run resumes only with the same."""
        data = {} if self._dataset is None else {"data": self._dataset.commit}
        return {**super().settings(), **data}

    def card(self) -> dict[str, str]:
        """Describe the model for the model card."""
        return {
            "title": "Progress model from",
            "does": "Predicts how many steps of a Lean 4 proof remain (LeanProgress).",
            "library": "transformers",
            "task": "text-classification",
            "formatter": "progress-text",
        }

    @staticmethod
    def estimator(path: str | Path) -> ProgressEstimator:
        """Load a trained model for proof search; CheckpointError if the folder holds none."""
        from lean_dojo_plugins.progress.estimator import ProgressModel

        return ProgressModel(path)

    def _measured(
        self, data_path: str | Path | None, split: str
    ) -> Iterable[lean_progress.ProgressExample]:
        if data_path is not None and not Path(data_path).is_dir():
            return progress.ProgressDataset(data_path).examples
        if split == "test":
            theorems = read_theorems(training.split_file(data_path or merged_data_dir(), split))
            return itertools.chain.from_iterable(map(lean_progress.examples_of, theorems))
        kept, held_out = self._trained_on(data_path).split(self.eval_ratio, self.seed)
        return kept if split == "train" else held_out

    def _dataset_file(self) -> Path:
        if self.data_path is None:
            raise UsageError(
                "data_path: name a JSONL dataset, or train on a database; "
                "`python -m lean_dojo_v2.lean_progress.create_sample_dataset` writes one"
            )
        return Path(self.data_path)

    def _trained_on(self, data_path: Path | str | None) -> progress.ProgressDataset:
        """Return the dataset of the run in the output folder."""
        exported = Path(data_path or merged_data_dir()) / EXPORTED_NAME
        exists = self.data_path is None and exported.exists()
        dataset = progress.ProgressDataset(exported if exists else self._dataset_file())
        state = training.RunFolder(Path(self.output_dir)).load()
        if state is not None and state.finished and state.finished[0].commit != dataset.commit:
            raise UsageError(
                f"{dataset.data_path} is not what {self.output_dir} was trained on; name that file "
                "as data_path, or any file to measure on as a whole"
            )
        return dataset

    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:  # noqa: ARG002 - one dataset
        """Tokenise the examples, those that are held out last."""
        from lean_dojo_plugins.progress.dataset import tokenised

        assert self._dataset is not None
        tokenizer = self._load_tokenizer()
        for held_out, examples in enumerate(self._dataset.split(self.eval_ratio, self.seed)):
            for row in tokenised(examples, tokenizer, self.max_length):
                yield {**row, "held_out": bool(held_out)}

    def fit(
        self, dataset: Dataset, step: training.CurriculumStep, fitting: training.Fitting
    ) -> int:
        """Train from the last checkpoint on and save the best model."""
        from transformers import DataCollatorWithPadding, set_seed

        from lean_dojo_plugins.progress.estimator import measures

        def measured(output: Any) -> dict[str, float]:
            return measures(output.predictions, output.label_ids)

        count = dataset["held_out"][:].count(False)
        held_out = dataset.select(range(count, len(dataset)))
        set_seed(step.seed)
        model, tokenizer = self._load()
        trainer = training.GroupingTrainer(
            model=model,
            args=self._arguments(step),
            train_dataset=dataset.select(range(count)),
            eval_dataset=held_out,
            processing_class=tokenizer,
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=measured,
        )
        fitting.train(trainer)
        output = trainer.predict(held_out)
        fitting.save(trainer)
        if self.processes.is_main_process:
            numbers = measured(output)
            self.say("held-out proofs: " + ", ".join(f"{k} {v:.3f}" for k, v in numbers.items()))
            trainer.log(numbers)
            tokenizer.save_pretrained(str(fitting.target))
        return int(trainer.state.global_step)

    def _load_tokenizer(self) -> PreTrainedTokenizerBase:
        tokenizer = training.fetch_tokenizer(training.resolve_model(self.model_name))
        tokenizer.model_max_length = self.max_length  # recorded for the search
        return tokenizer

    def _load(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        import torch
        from transformers import AutoModelForSequenceClassification

        source, tokenizer = training.resolve_model(self.model_name), self._load_tokenizer()
        with training.errors_only():  # it would report our new head as missing
            model, loaded = training.fetch(
                AutoModelForSequenceClassification.from_pretrained,
                source,
                what="model",
                num_labels=1,
                problem_type="regression",
                ignore_mismatched_sizes=True,  # a classifier's head is replaced
                output_loading_info=True,
                dtype=torch.float32,
            )
        body = f"{model.base_model_prefix}."
        if missing := sorted(key for key in loaded["missing_keys"] if key.startswith(body)):
            self.say(f"{source} lacks weights, which start at random: {', '.join(missing)[:300]}")
        if model.config.pad_token_id is None:
            model.config.pad_token_id = tokenizer.pad_token_id
        return model, tokenizer

    def _arguments(self, step: training.CurriculumStep) -> TrainingArguments:
        from transformers import TrainingArguments

        defaults = {
            "logging_steps": 10,
            "train_sampling_strategy": "group_by_length",
            "warmup_steps": 0.05,
            "per_device_eval_batch_size": 4 * self.batch_size,
        }
        fixed = {
            "num_train_epochs": self.epochs,
            "learning_rate": self.learning_rate,
            "eval_strategy": "epoch",
            "save_strategy": "epoch",
            "load_best_model_at_end": True,
            "metric_for_best_model": "mse",
            "greater_is_better": False,  # not ending in "loss", it would be maximised
            "bf16": self.chosen_device.bf16,
            "report_to": "none",  # the reporter writes TensorBoard events
        }
        return self.library_config(TrainingArguments, step, defaults=defaults, fixed=fixed)
