"""The progress trainer: an encoder with one output that predicts the steps remaining."""

# ruff: noqa: RUF009 - `_field` is attrs.field with the help text as its second argument

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
    set_seed,
)

from lean_dojo_core import registry
from lean_dojo_core.errors import EmptyDatasetError, UsageError
from lean_dojo_plugins.causal_lm.arguments import check_trainer_args
from lean_dojo_plugins.causal_lm.loading import choose_device, fetch, resolve_model
from lean_dojo_plugins.causal_lm.reporting import (
    ReportCallback,
    Reporter,
    bars_on_terminals_only,
    errors_only,
    show_only_a_bar,
)
from lean_dojo_plugins.causal_lm.run_folder import (
    FinishedStep,
    RunFolder,
    RunState,
    check_same_run,
    last_checkpoint,
)
from lean_dojo_plugins.progress.dataset import ProgressDataset, tokenised
from lean_dojo_plugins.progress.metrics import compute_metrics, draw_predictions, flat, measures
from lean_dojo_v2.lean_progress.examples import ProgressExample, write_examples
from lean_dojo_v2.paths import merged_data_dir
from lean_dojo_v2.report.environment import record_environment

EXPORTED_NAME = "leanprogress.jsonl"
HINT = "export LEANPROGRESS_MODEL={path}"

_OURS = "the trainer sets it; use its own parameters"


def _positive(instance: object, attribute: attrs.Attribute[Any], value: float) -> None:  # noqa: ARG001
    if isinstance(value, bool) or not value > 0:
        raise UsageError(f"{attribute.name} must be positive, not {value!r}")


def _share(instance: object, attribute: attrs.Attribute[Any], value: float) -> None:  # noqa: ARG001
    if not 0 < value < 1:
        raise UsageError(f"{attribute.name} must lie between 0 and 1, not {value!r}")


def _field(default: Any, text: str, validator: Any = None, *, kw_only: bool = False) -> Any:
    return attrs.field(
        default=default, validator=validator, metadata={"help": text}, kw_only=kw_only
    )


@attrs.define(slots=False, eq=False)
class ProgressTrainer:
    """Trains a model that predicts the number of proof steps that remain (LeanProgress).

    Batches hold examples of similar length, padded to their longest; the checkpoint with the lowest
    mean squared error on the held-out proofs is kept. A killed run goes on from its last epoch.

    Attributes: see the fields' help texts (``lean-dojo show progress``).
    """

    data_path: str | Path | None = _field(None, "JSONL dataset; not needed with a database.")
    model_name: str = _field("bert-base-uncased", "Encoder: hub id or local folder.")
    output_dir: str = _field("outputs", "Folder for the model.", None)
    max_length: int = _field(512, "Tokens of an input at most.", _positive)
    batch_size: int = _field(8, "Examples per device and step.", _positive)
    epochs: float = _field(3.0, "Passes over the training examples.", _positive)
    learning_rate: float = _field(1e-5, "Peak learning rate.", _positive)
    eval_ratio: float = _field(0.2, "Share of the examples that is held out.", _share)
    seed: int = _field(42, "Seed of the split, the new head and the order.")
    resume: bool = _field(True, "Go on with a killed run.", kw_only=True)
    device: str = _field("auto", "auto, cpu, cuda or mps.", kw_only=True)
    report_to: str = _field("tensorboard", "tensorboard or none.", kw_only=True)
    trainer_args: dict[str, Any] = attrs.field(
        factory=dict, kw_only=True, metadata={"help": "Further transformers.TrainingArguments."}
    )

    fixed_args: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "output_dir", "num_train_epochs", "per_device_train_batch_size", "learning_rate",
            "seed", "metric_for_best_model", "greater_is_better", "load_best_model_at_end",
            "eval_strategy", "save_strategy", "report_to", "use_cpu", "bf16",
        ),
        _OURS,
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        check_trainer_args(TrainingArguments, self.trainer_args, self.fixed_args)
        resolve_model(self.model_name)

    def train(
        self,
        repos: Sequence[Any] | None = None,
        database: Any = None,
        data_path: Path | str | None = None,
    ) -> None:
        """Train on the JSONL file, or on the finished proofs of a database.

        Args:
            repos: Repositories to take proofs from; all of the database's if not given.
            database: Database of traced theorems; without one, the constructor's ``data_path`` is
                read.
            data_path: Folder for the dataset that is made from the database.

        Raises:
            UsageError: If there is neither a dataset nor a database, or the output folder holds a
                run with other settings.
            DataError: For a bad line, with its number.
            EmptyDatasetError: If there is too little to train on.
        """
        file = self._dataset_file(repos, database, data_path)
        dataset = ProgressDataset(file)
        kept, held_out = dataset.split(self.eval_ratio, self.seed)
        folder = RunFolder(Path(self.output_dir))
        folder.path.mkdir(parents=True, exist_ok=True)
        state = self._state(folder, _digest(dataset.examples))
        if state.finished:
            _say(f"{self.output_dir} holds the finished model already; resume=False trains anew")
        else:
            with bars_on_terminals_only():
                self._fit(kept, held_out, folder, state)
        print(f"Progress model saved to {self.output_dir}")
        print(f"To use it in proof search: {HINT.format(path=self.output_dir)}")

    def evaluate(self, data_path: str | Path | None = None) -> dict[str, float]:
        """Measure the saved model.

        Args:
            data_path: A JSONL file to measure on as a whole; the held-out part of the training
                file if not given.

        Returns:
            ``mse``, ``mae`` (steps), ``within_one`` (share predicted within one step) and
            ``examples`` (how many were measured).
        """
        if data_path is not None:
            examples = ProgressDataset(data_path).examples
        else:
            file = self._dataset_file(None, None, None)
            examples = ProgressDataset(file).split(self.eval_ratio, self.seed)[1]
        from lean_dojo_plugins.progress.estimator import ProgressModel

        model = ProgressModel(self.output_dir, max_length=self.max_length, device=self.device)
        predicted = model.predict([(e.goal, e.prefix, e.tactic) for e in examples])
        actual = [e.steps_remaining for e in examples]
        return {**measures(predicted, actual), "examples": float(len(examples))}

    def _dataset_file(
        self, repos: Sequence[Any] | None, database: Any, data_path: Path | str | None
    ) -> Path:
        if database is None:
            if self.data_path is None:
                raise UsageError(
                    "data_path: name a JSONL dataset, or train on a database; "
                    "`python -m lean_dojo_v2.lean_progress.create_sample_dataset` writes one"
                )
            return Path(self.data_path)
        formatter = registry.dataset_formatters["progress-text"].create()
        wanted = None if repos is None else [(repo.url, repo.commit) for repo in repos]
        found = [
            repository
            for repository in database.repositories
            if wanted is None or (repository.url, repository.commit) in wanted
        ]
        rows = (
            row
            for repository in found
            for theorem in repository.get_all_theorems
            for row in formatter.rows(theorem)
        )
        file = Path(data_path or merged_data_dir()) / EXPORTED_NAME
        if write_examples(file, (ProgressExample(**row) for row in rows)) == 0:
            raise EmptyDatasetError("the repositories hold no finished proof with tactics")
        self.data_path = file
        return file

    def _state(self, folder: RunFolder, data: str) -> RunState:
        """Give the state of an earlier run with the same settings, or a fresh one."""
        settings = {
            **{
                a.name: getattr(self, a.name)
                for a in attrs.fields(type(self))
                if a.name not in {"output_dir", "resume", "device", "report_to", "data_path"}
            },
            "data": data,
        }
        state = folder.recover() if self.resume else None
        if state is not None and folder.holds_work(state):
            check_same_run(state, type(self).__name__, settings, folder.path)
            return state
        folder.start_anew()
        fresh = RunState(type(self).__name__, settings)
        folder.save(fresh)
        return fresh

    def _fit(
        self,
        kept: Sequence[ProgressExample],
        held_out: Sequence[ProgressExample],
        folder: RunFolder,
        state: RunState,
    ) -> None:
        set_seed(self.seed)
        model, tokenizer = self._load()
        reporter = Reporter(folder.path, tensorboard=self.report_to == "tensorboard")
        reporter.resume_at(0)
        checkpoints = folder.step_folder(0, "progress")
        evaluation = tokenised(held_out, tokenizer, self.max_length)
        trainer = Trainer(
            model=model,
            args=self._arguments(checkpoints),
            train_dataset=tokenised(kept, tokenizer, self.max_length),
            eval_dataset=evaluation,
            processing_class=tokenizer,
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=compute_metrics,
            callbacks=[ReportCallback(reporter, "progress", 0)],
        )
        show_only_a_bar(trainer)
        resume = last_checkpoint(checkpoints, processes=trainer.args.world_size)
        trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
        output = trainer.predict(evaluation)
        predicted, actual = flat(output.predictions), flat(output.label_ids)
        numbers = measures(predicted, actual)
        if trainer.is_world_process_zero():
            _say("held-out proofs: " + ", ".join(f"{k} {v:.3f}" for k, v in numbers.items()))
            record_environment(folder.path)
            folder.staging.mkdir(exist_ok=True)
            trainer.save_model(str(folder.staging))
            tokenizer.save_pretrained(str(folder.staging))
            draw_predictions(predicted, actual, folder.path / "predictions.svg")
            reporter.write(trainer.state.global_step, "progress", numbers)
            reporter.draw()
            step = FinishedStep(
                "progress", "", len(kept), trainer.state.global_step, state.settings["data"]
            )
            folder.publish(state, [step])
        reporter.close()
        trainer.accelerator.wait_for_everyone()

    def _load(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        source = resolve_model(self.model_name)
        tokenizer = fetch(AutoTokenizer.from_pretrained, source, what="tokenizer")
        with errors_only():  # its table of weights would list our new head as missing
            model, loaded = fetch(
                AutoModelForSequenceClassification.from_pretrained,
                source,
                what="model",
                num_labels=1,
                problem_type="regression",
                ignore_mismatched_sizes=True,  # a classifier's head gives way to ours
                output_loading_info=True,
                dtype=torch.float32,
            )
        body = f"{model.base_model_prefix}."
        if missing := sorted(key for key in loaded["missing_keys"] if key.startswith(body)):
            _say(f"{source} lacks weights, which start at random: {', '.join(missing)[:300]}")
        if model.config.pad_token_id is None:
            model.config.pad_token_id = tokenizer.pad_token_id
        return model, tokenizer

    def _arguments(self, checkpoints: Path) -> TrainingArguments:
        device = choose_device(self.device)
        settings: dict[str, Any] = {
            "logging_steps": 10,
            "save_total_limit": 2,
            "train_sampling_strategy": "group_by_length",
            "disable_tqdm": not sys.stderr.isatty(),
            "warmup_steps": 0.05,
            **self.trainer_args,
        }
        return TrainingArguments(
            output_dir=str(checkpoints),
            num_train_epochs=self.epochs,
            per_device_train_batch_size=self.batch_size,
            per_device_eval_batch_size=4 * self.batch_size,
            learning_rate=self.learning_rate,
            seed=self.seed,
            eval_strategy="epoch",
            save_strategy="epoch",
            load_best_model_at_end=True,
            metric_for_best_model="mse",
            greater_is_better=False,  # not ending in "loss", it would be maximised
            use_cpu=device.name == "cpu",
            bf16=device.bf16,
            report_to="none",  # the reporter writes TensorBoard events
            **settings,
        )


def _digest(examples: Sequence[ProgressExample]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example).encode())
    return digest.hexdigest()


def _say(text: str) -> None:
    print(text, file=sys.stderr)
