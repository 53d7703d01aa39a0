"""Base class of trainers of causal language models, which build the trainer of one step.

Repositories come one after another; each step trains on the merged data of all so far, and ends
with the model and tokenizer saved. Export, formatting, saving, resuming, several processes, logs
and the model card are done here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import attrs

from lean_dojo_core import (
    Database,
    DatasetFormatter,
    Evaluation,
    PreviewExample,
    Repository,
    Theorem,
    registry,
)
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins import training
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_plugins.causal_lm.text.templates import render
from lean_dojo_plugins.causal_lm.text.tokenisation import Tokeniser, preview_rows
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import merged_data_dir
from lean_dojo_v2.settings import about, fields, setting

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer, TrainingArguments


@attrs.define(slots=False, eq=False, kw_only=True)
class ModelSettings:
    """Which model, how examples become its text, and the seed."""

    model_name: str = attrs.field(
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        kw_only=False,
        metadata=about("Model to start from: a folder or a Hugging Face hub id."),
    )
    formatter: str = setting("tactic-chat", "Dataset formatter that turns theorems into rows.")
    max_length: int | None = setting(
        1024, "Longest example in tokens; longer goals are shortened.", fields.positive_int_or_none
    )
    seed: int = setting(42, "Seed for everything random.", fields.not_negative_int)


class _ByPosition:
    """Settings that each order of arguments declares itself."""

    epochs_per_repo: int
    batch_size: int
    lr: float
    lora_config: LoraConfig | None


@attrs.define(slots=False, eq=False, kw_only=True)
class CausalBase(_ByPosition, ModelSettings, training.CurriculumTrainer):
    """What trainers of a causal language model share, whatever the order of their arguments."""

    config_class: ClassVar[type[TrainingArguments] | str] = training.ARGUMENTS
    """Configuration class of the trainer that :meth:`build_step_trainer` builds.

    ``trainer_args`` is checked against it, and :meth:`step_config` makes an object of it. As text,
    ``module:attribute``, it is imported only then.
    """
    fixed_args: ClassVar[Mapping[str, str]] = training.FIXED_ARGUMENTS
    """Settings that ``trainer_args`` may not contain, each with the reason."""
    required_columns: ClassVar[tuple[str, ...]] = ("prompt",)
    """Columns that the formatter's rows must have."""

    _trained_on: Path | None = attrs.field(default=None, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Check what can be checked without loading a model."""
        kind, hint, name = training.opened(self.config_class), "", type(self).__name__
        if kind is training.opened(training.ARGUMENTS):
            hint = (
                f"Set {name}.config_class to the configuration class of the trainer that "
                f"{name}.build_step_trainer builds, for example config_class = DPOConfig for TRL's "
                "DPOTrainer; trainer_args are checked against it, and step_config makes it"
            )
        fixed = {**training.FIXED_ARGUMENTS, **self.fixed_args}
        training.check_trainer_args(kind, self.trainer_args, fixed, hint)
        check_other_folder(self.model_name, self.output_dir)
        training.check_values(self.trainer_args, on_cpu=self.chosen_device.name == "cpu")
        self.make_formatter()
        # A finished run no longer needs its start.
        if not training.trained_settings(Path(self.output_dir)):
            training.check_model_name(self.model_name)

    def preflight(self) -> None:
        """Check what training will need, before any data is prepared; loads the tokenizer only."""
        self.check_ready(self.trial_config())
        self.check_model()

    def trial_config(self) -> Any:
        """Make the configuration of a step that is only checked."""
        return self.step_config(
            training.CurriculumStep(0, 1, (), Path(self.output_dir), self.seed, 1)
        )

    def check_model(self) -> None:
        """Check that the model's tokenizer, its chat template and its adapter can be used."""
        from lean_dojo_plugins.causal_lm.model.adapters import check_lora

        if not training.has_tokenizer(self.model_name):
            raise UsageError(
                f"model_name: the folder {self.model_name} holds a model but no tokenizer (no "
                "tokenizer.json); copy the tokenizer's files of the model that it comes from"
            )
        render(self.tokenizer, [self.make_formatter().prompt("⊢ True")], ask=True)
        if self.lora_config is not None:
            check_lora(self.model_name, self.lora_config)

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Turn the formatter's rows into those of the training dataset, as a stream.

        They are written to disk once per step. The base class keeps them as they are. Rows that are
        shortened or left out because of their length are counted in ``self.too_long``.
        """
        yield from rows

    @abstractmethod
    def build_step_trainer(self, dataset: Dataset, step: training.CurriculumStep) -> Trainer:
        """Build the trainer of one step around ``self.model`` and ``self.tokenizer``.

        ``dataset`` has the rows of :meth:`prepare_rows`; :meth:`step_config` makes a configuration.
        """

    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:
        """Stream the rows of the training dataset, made of the merged data there."""
        return self.prepare_rows(
            training.formatted_rows(training.split_file(data_path), self.make_formatter())
        )

    @property
    def model(self) -> PreTrainedModel:
        """The model, loaded on first use: that of a run in ``output_dir``, or ``model_name``.

        UsageError if that run had other settings, TrainingError if it cannot be loaded.
        """
        import torch

        from lean_dojo_plugins.causal_lm.model.loading import load_model, match_vocabulary

        if self._model is None:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)  # for the weights of a new adapter and of new tokens
                self._model = load_model(
                    self._source(), lora=self.lora_config, device=self.chosen_device
                )
                match_vocabulary(self._model, self.tokenizer)
            if not training.sharding():  # otherwise each process gets its part, layer by layer
                cast("torch.nn.Module", self._model).to(self.chosen_device.name)
            if self.lora_config is not None:
                adapted: Any = self._model
                trained, total = adapted.get_nb_trainable_parameters()
                share = f"{trained:,} of {total:,} ({100 * trained / total:.2f} %)"
                self.say(f"trainable parameters: {share}")
        return self._model

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer, with a chat template and a padding token; loaded on first use."""
        return load_tokenizer(self.model_name)

    @property
    def row_length(self) -> int | None:
        """Longest row of the training dataset, in tokens."""
        return self.max_length

    @property
    def chosen_device(self) -> training.Device:
        """The device and precision that this trainer runs on."""
        device = super().chosen_device
        wants = False if self.trainer_args.get("fp16") else self.trainer_args.get("bf16")
        return device if wants is None else attrs.evolve(device, bf16=bool(wants))

    def make_formatter(self) -> DatasetFormatter:
        """Load the dataset formatter; ConfigError if it does not give the columns needed."""
        made = registry.dataset_formatters[self.formatter].create()
        missing = [column for column in self.required_columns if column not in made.columns]
        if missing:
            raise ConfigError(
                f"formatter {self.formatter!r} has no column {', '.join(missing)}, which "
                f"{type(self).__name__} needs; its columns are {', '.join(made.columns)}"
            )
        return made

    def step_config(self, step: training.CurriculumStep, **fixed: Any) -> Any:
        """Make the configuration of one step's trainer; ``fixed`` overrides the user's settings.

        ConfigError if the library refuses the combination.
        """
        device = self.chosen_device
        on_cpu = device.name == "cpu"
        others = [name for name in self.reports() if name not in {"tensorboard", "none"}]
        defaults = {
            "bf16": device.bf16,
            "activation_checkpointing": not on_cpu,
            "logging_steps": 1 if on_cpu else 10,
            "logging_first_step": True,
            "save_strategy": "steps",
            "save_steps": 500,
            "dataloader_pin_memory": not on_cpu,
        }
        ours = {
            "num_train_epochs": self.epochs_per_repo,
            "learning_rate": self.lr,
            "report_to": others or "none",
        }
        kind = training.opened(self.config_class)
        return self.library_config(kind, step, defaults=defaults, fixed={**ours, **fixed})

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return at most ``limit`` examples as the model reads them, the first ones.

        Only the tokenizer is loaded (TrainingError if it cannot be), and the theorems are read only
        as far as needed.
        """
        formatter = self.make_formatter()
        rows = (
            (f"{theorem.full_name} ({theorem.file_path}:{theorem.start[0]})", row)
            for theorem in theorems
            for row in formatter.rows(theorem)
        )
        return preview_rows(Tokeniser(self.tokenizer, self.row_length), rows, limit)

    def train(self, repos: Sequence[Repository], database: Database, data_path: Path | str) -> None:
        """Train on the repositories in their order, each time on the merged data of all so far.

        After every repository the model (or adapter) and tokenizer are in ``output_dir``. Call it
        again to resume an interrupted run: after the last finished repository, and inside a
        repository from its last checkpoint. Of a repository only ``url`` and ``commit`` are read,
        and of the database only ``export_merged_data(repos, data_path)`` is called, which writes
        the merged data to the folder ``data_path``.

        Raises:
            EmptyDatasetError: If no repository gives anything to learn from.
            UsageError: If ``output_dir`` holds another run, or another process trains there.
        """
        source = training.DatabaseSource(*training.checked_repositories(repos, database))
        self.train_on(source, Path(data_path))

    def train_on(self, source: training.DataSource, data_path: Path) -> None:
        """Train on the data of a source, which are exported to a folder; see :meth:`train`."""
        self.preflight()
        self._trained_on = data_path
        try:
            loop = training.Loop(self, source, data_path)
            with training.run_lock(self.output_dir, self.processes):
                loop.run()
        except BaseException:
            self.forget_model()  # half trained; the next call starts from the disk
            raise

    def fit(
        self, dataset: Dataset, step: training.CurriculumStep, fitting: training.Fitting
    ) -> int:
        """Train one step with the trainer of :meth:`build_step_trainer`."""
        from lean_dojo_plugins.causal_lm.model.label_head import restore_forward

        restore_forward(self.model)
        use_cache = self.model.config.use_cache
        try:
            trainer = self.build_step_trainer(dataset, step)
        except (ValueError, ImportError) as error:  # settings that only the library can judge
            raise ConfigError(f"{type(self).__name__} cannot be built: {error}") from error
        fitting.train(trainer, training.NoFinalCheckpoint())
        # Training turns the cache off in the configuration; generation needs it.
        self.model.config.use_cache = use_cache
        fitting.save(trainer)
        restore_forward(self.model)
        if trainer.is_world_process_zero():
            self.tokenizer.save_pretrained(fitting.target)
        if training.sharding():
            self.forget_model()  # the next repository loads the saved one
            trainer.accelerator.free_memory()
        return int(trainer.state.global_step)

    def card(self) -> dict[str, str]:
        """Describe the model for the model card."""
        adapter = self.lora_config is not None
        return {
            "title": "LoRA adapter for" if adapter else "Fine-tuned from",
            "does": "Suggests the next tactic at a Lean 4 goal.",
            "library": "peft" if adapter else "transformers",
            "task": "text-generation",
            "formatter": self.formatter,
        }

    def _source(self) -> str:
        """Return where the model is; ``train`` with ``resume=False`` has emptied ``output_dir``."""
        folder = training.RunFolder(Path(self.output_dir))
        state = self.run_state() if self.resume else folder.load()
        return self.output_dir if state is not None and state.finished else self.model_name

    def evaluate(
        self, data_path: Path | str | None = None, split: str = "val", *, limit: int | None = None
    ) -> Evaluation:
        """Measure the model on held-out tactics.

        Before training, this measures the start model; after it, or in a later process with the
        same ``output_dir``, the trained one, even with ``resume=False``. A message names the model.

        Args:
            data_path: Folder of merged data, or a split's file; by default the data this object
                trained on, or ``$RAID_DIR/data/merged``.
            split: ``"val"``, ``"test"`` or ``"train"``.
            limit: Take only this many tactics, from the start.

        Returns:
            ``loss`` (nats per token of the tactic) and ``exact_match`` (share, 0 to 1).

        Raises:
            EmptyDatasetError: If the split has no tactic to learn, or none that fits.
            UsageError: If ``output_dir`` holds a run with other settings, unless ``resume=False``.
        """
        from lean_dojo_plugins.causal_lm.evaluation import evaluate_rows

        file = self.evaluation_file(data_path, split)
        formatter = self.make_formatter()
        if "completion" not in formatter.columns:
            formatter = registry.dataset_formatters["tactic-chat"].create()
        rows = list(islice(training.formatted_rows(file, formatter), limit))
        if not rows:
            raise EmptyDatasetError("no theorem has a one-line tactic without sorry", path=file)
        source = self._source()
        self.say(f"measuring {source} on {file}")
        tokeniser = Tokeniser(self.tokenizer, self.max_length)
        metrics = evaluate_rows(self.model, tokeniser, formatter, rows)
        if cut := tokeniser.too_long.describe(self.max_length):
            self.say(cut)
        return Evaluation(metrics=metrics, examples=len(rows), split=split, model=source)

    def evaluation_file(self, data_path: Path | str | None, split: str) -> Path:
        """Find the file that :meth:`evaluate` reads."""
        return training.split_file(data_path or self._trained_on or merged_data_dir(), split)

    def prover_settings(self) -> dict[str, object]:
        """Return the settings of the prover that uses the trained model."""
        return {
            "ckpt_path": self.output_dir,
            "use_lora": self.lora_config is not None,
            "device": self.device,
            "formatter": self.formatter,
            "max_length": self.max_length,
        }


@attrs.define(slots=False, eq=False)
class CausalSettings(ModelSettings):
    """Settings of a trainer of a causal language model, in their documented order."""

    output_dir: str = attrs.field(
        default="outputs",
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        metadata=about("Folder for the trained model and its tokenizer.", shapes_result=False),
    )
    epochs_per_repo: int = setting(
        1, "Passes over the merged data for each repository.", fields.positive_int
    )
    batch_size: int = setting(1, "Training batch size per device.", fields.positive_int)
    lr: float = setting(2e-5, "Peak learning rate.", fields.positive)
    lora_config: LoraConfig | None = attrs.field(
        default=None,
        converter=training.lora_of,
        metadata=about("Train only a LoRA adapter with this configuration.", types=training.LORA),
    )


@attrs.define(slots=False, eq=False, kw_only=True)
class CausalTrainer(CausalSettings, CausalBase):
    """Base class of trainers that train one causal language model along a curriculum.

    A subclass sets the class variables, may extend :meth:`prepare_rows`, and implements
    :meth:`build_step_trainer`.

    Raises:
        ConfigError: For a setting of a wrong type or value.
        UsageError: If ``model_name`` is a path or a bare name, and there is no such model.
    """


def check_other_folder(model_name: str, output_dir: str) -> None:
    """Refuse to train into the folder of the start model."""
    source = Path(training.resolve_model(model_name))
    if source.exists() and source.resolve() == Path(output_dir).resolve():
        raise UsageError(
            f"output_dir is the folder of the model to start from ({output_dir}); "
            "training would overwrite it: use another output_dir"
        )
