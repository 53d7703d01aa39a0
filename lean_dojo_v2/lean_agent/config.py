"""Settings of retriever training and of provers, under their documented names."""

# ruff: noqa: RUF009 - `setting` is attrs.field with the help text as its second argument
from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import orjson

from lean_dojo_core import registry
from lean_dojo_v2 import files
from lean_dojo_v2.settings import construct, fields, read_settings, setting, write_yaml

if TYPE_CHECKING:
    from pytorch_lightning import Callback, Trainer as LightningTrainer

ONE_YEAR_SECONDS = 31_449_600
"""52 weeks: the documented time-out, which never ends a run."""


PRECISIONS = (
    "transformer-engine", "transformer-engine-float16", "16-true", "16-mixed", "bf16-true",
    "bf16-mixed", "32-true", "64-true", "64", "32", "16", "bf16",
)  # fmt: skip
MONITORS = ("Recall@10_val", "Recall@1_val", "MRR", "loss_train")
"""Metrics that the retriever's training logs."""
_MODE = fields.one_of("max", "min")


def _text_of_number(value: Any) -> Any:
    """Accept Lightning's 16, 32 and 64 as numbers, too."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_path = attrs.converters.optional(Path)
_added = partial(setting, kw_only=True)
"""Makes a field that 1.x does not have."""


@attrs.define(slots=False)
class TrainingConfig:
    """All settings of retriever training; each default is the documented one.

    The fields' help texts are in their attrs ``metadata["help"]``; ``attrs.evolve`` changes a copy.
    The settings after ``seed`` are additions to 1.x and keyword-only.

    Raises:
        ConfigError: For a value out of range; names the field.

    >>> config = TrainingConfig(max_epochs=3, lr=5e-4, lambda_value=0.05)
    >>> config.get_lambda_value()
    0.05
    >>> TrainingConfig(run_progressive_training=False).get_lambda_value()
    0.0
    """

    run_progressive_training: bool = setting(True, "Use EWC against forgetting.")
    single_repo: bool = setting(
        True, "One curriculum step per repository; false: one step over all of them together."
    )
    num_repos: int = setting(
        1,
        "Planned number of repositories; for information only, train() uses its list.",
        fields.positive_int,
        shapes_result=False,
    )
    max_epochs: int = setting(1, "Maximum number of epochs per repository.", fields.positive_int)
    # Model
    model_name: str = setting(
        "kaiyuy/leandojo-lean4-retriever-byt5-small",
        "T5-type encoder to start from: a hub id, a local folder or a Lightning checkpoint.",
    )
    lr: float = setting(1e-3, "Peak learning rate.", fields.not_negative)
    warmup_steps: int = setting(1000, "Steps of linear warm-up.", fields.not_negative_int)
    max_seq_len: int = setting(
        512, "Maximum number of tokens that the encoder reads.", fields.whole(2)
    )
    num_retrieved: int = setting(100, "Premises retrieved per state.", fields.positive_int)
    # Hardware and training
    batch_size: int = setting(4, "Training items per device and step.", fields.positive_int)
    eval_batch_size: int = setting(
        64, "States per batch in validation.", fields.positive_int, shapes_result=False
    )
    accumulate_grad_batches: int = setting(4, "Batches per optimiser step.", fields.positive_int)
    num_gpus: int = setting(1, "Devices; more than one trains with DDP.", fields.positive_int)
    num_workers: int = setting(
        4, "Processes that prepare batches.", fields.not_negative_int, shapes_result=False
    )
    precision: str = setting(
        "bf16-mixed",
        "Lightning's precision, e.g. 32-true or bf16-mixed.",
        fields.one_of(*PRECISIONS),
        converter=_text_of_number,
    )
    gradient_clip_val: float = setting(
        1.0, "Gradients are clipped to this norm; 0: off.", fields.not_negative
    )
    # Data
    num_negatives: int = setting(3, "Negative premises per item.", fields.not_negative_int)
    num_in_file_negatives: int = setting(
        1, "How many of these come from the file of the positive premise.", fields.not_negative_int
    )
    data_max_seq_len: int = setting(
        1024,
        "Maximum number of tokens that the data module keeps (the encoder reads at most "
        "max_seq_len).",
        fields.whole(2),
    )
    tokenizer_model_name: str = setting(
        "google/byt5-small", "Tokenizer; ByT5's needs no files and no network."
    )
    # EWC regularisation
    lambda_value: float = setting(
        0.1,
        "Weight of the EWC penalty; 0: off. The Fisher information is scaled to a mean of 1, so "
        "that the default has an effect.",
        fields.not_negative,
    )
    timeout_seconds: int = setting(
        ONE_YEAR_SECONDS,
        "Timeout of collective operations, in seconds.",
        fields.positive_int,
        shapes_result=False,
    )
    # Callbacks and checkpointing
    early_stopping_patience: int = setting(
        5, "Epochs without progress before training stops.", fields.not_negative_int
    )
    early_stopping_monitor: str = setting(
        "Recall@10_val", "Metric that early stopping watches.", fields.one_of(*MONITORS)
    )
    early_stopping_mode: str = setting(
        "max", "Whether a higher value is better (max) or a lower one (min).", _MODE
    )
    checkpoint_monitor: str = setting(
        "Recall@10_val", "Metric that picks the best checkpoint.", fields.one_of(*MONITORS)
    )
    checkpoint_mode: str = setting(
        "max", "Whether a higher value is better (max) or a lower one (min).", _MODE
    )
    checkpoint_save_top_k: int = setting(
        -1, "Best epoch checkpoints to keep; -1: all.", fields.whole(0, unless=-1)
    )
    checkpoint_every_n_epochs: int = setting(1, "Epochs between checkpoints.", fields.positive_int)
    # Logging and sanity checks
    log_every_n_steps: int = setting(
        1, "Steps between log lines.", fields.positive_int, shapes_result=False
    )
    num_sanity_val_steps: int = setting(
        0,
        "Validation batches before training; -1: all.",
        fields.whole(0, unless=-1),
        shapes_result=False,
    )
    seed: int = setting(3407, "Seed for everything random.", fields.not_negative_int)

    # Additions to 1.x
    replay: bool = _added(
        True,
        "Train on all repositories so far, as documented; false: on the newest only, so that EWC "
        "alone works against forgetting.",
    )
    split_strategy: Literal["random", "novel_premises"] = _added(
        "random",
        "Split strategy for training: random, as documented, or novel_premises, whose test proofs "
        "use premises that no training proof uses. With novel_premises, training sees theorems "
        "that `bench` holds out: use it only to measure retrieval.",
        fields.one_of("random", "novel_premises"),
    )
    cap_warmup: bool = _added(True, "Never warm up for longer than a tenth of the training.")
    gradient_checkpointing: bool = _added(False, "Recompute activations: less memory, more time.")
    checkpoint_every_n_steps: int | None = _added(
        None,
        "Also save a checkpoint every N optimiser steps, to resume within an epoch.",
        fields.optional(fields.positive_int),
        shapes_result=False,
    )
    fisher_examples: int | None = _added(
        None,
        "Estimate the Fisher information from this many training items; null: all.",
        fields.optional(fields.positive_int),
    )
    accelerator: Literal["auto", "cpu", "gpu"] = _added(
        "auto",
        "auto: GPUs if there are any; cpu: num_gpus is the number of CPU processes.",
        fields.one_of("auto", "cpu", "gpu"),
    )
    checkpoint_dir: Path | None = _added(
        None,
        "Folder of the checkpoints; null: raid/checkpoints.",
        converter=_path,
        shapes_result=False,
    )
    log_dir: Path | None = _added(
        None, "Folder of the logs; null: raid/logs.", converter=_path, shapes_result=False
    )

    @classmethod
    def from_yaml(cls, path: Path | str) -> TrainingConfig:
        """Read a YAML file of any of the fields.

        A ``ConfigError`` names file and key of one that is unknown or ill-typed.
        """
        config: TrainingConfig = construct(cls, read_settings(Path(path)), owner=cls.__name__)
        return config

    @classmethod
    def from_json(cls, path: Path | str) -> TrainingConfig:
        """Read a JSON file of any of the fields; errors as :meth:`from_yaml`."""
        return cls.from_yaml(path)  # JSON is YAML

    def to_yaml(self, path: Path | str) -> None:
        """Write all fields to a YAML file."""
        files.atomic_write_text(path, write_yaml(self.to_dict()))

    def to_json(self, path: Path | str) -> None:
        """Write all fields to a JSON file."""
        files.atomic_write_bytes(path, orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in attrs.asdict(self).items()
        }

    def get_model_config(self) -> dict[str, Any]:
        """Return the keyword arguments of ``PremiseRetriever``."""
        return {
            "model_name": self.model_name,
            "lr": self.lr,
            "warmup_steps": self.warmup_steps,
            "max_seq_len": self.max_seq_len,
            "num_retrieved": self.num_retrieved,
            "tokenizer_name": self.tokenizer_model_name,
            "gradient_checkpointing": self.gradient_checkpointing,
            "cap_warmup": self.cap_warmup,
        }

    def get_data_module_config(
        self, data_path: Path | str, corpus_path: Path | str
    ) -> dict[str, Any]:
        """Return the keyword arguments of ``RetrievalDataModule``.

        The folder ``data_path`` has ``train.json``, ``val.json`` and ``test.json``.
        """
        return {
            "data_path": Path(data_path),
            "corpus_path": Path(corpus_path),
            "num_negatives": self.num_negatives,
            "num_in_file_negatives": self.num_in_file_negatives,
            "tokenizer_name": self.tokenizer_model_name,
            "batch_size": self.batch_size,
            "eval_batch_size": self.eval_batch_size,
            "max_seq_len": self.data_max_seq_len,
            "num_workers": self.num_workers,
            "seed": self.seed,
        }

    def get_checkpoint_dir(self) -> Path:
        """Return the folder of the checkpoints."""
        return self.checkpoint_dir or files.checkpoint_dir()

    def get_custom_log_dir(self, dir_name: str) -> Path:
        """Return the log folder of one training step; ``dir_name`` becomes one folder's name."""
        return (self.log_dir or files.log_dir()) / files.safe_name(dir_name)

    def get_lambda_value(self) -> float:
        """Return the effective EWC weight: 0 without progressive training."""
        return self.lambda_value if self.run_progressive_training else 0.0

    def create_callbacks(self, dir_name: str) -> list[Callback]:
        """Build Lightning's callbacks: checkpoints, early stopping, learning rate, progress.

        Checkpoints go to the folder ``dir_name``, the name of the training step.
        """
        return list(
            registry.builtin(registry.trainers, "retrieval").lightning_callbacks(self, dir_name)
        )

    def create_trainer(self, dir_name: str, custom_log_dir: Path | str) -> LightningTrainer:
        """Build the ``pytorch_lightning.Trainer`` of one training step for this machine.

        Checkpoints go to the folder ``dir_name``, TensorBoard's logs to ``custom_log_dir``.
        """
        trainer: LightningTrainer = registry.builtin(
            registry.trainers, "retrieval"
        ).lightning_trainer(self, dir_name, Path(custom_log_dir))
        return trainer


@attrs.define(slots=False)
class ProverConfig:
    """Settings of the provers and of their search.

    The page *Prove* has the table of its fields; their attrs ``metadata["help"]`` has the texts.
    The settings from ``visits`` on are additions to 1.x and keyword-only. The limits are
    counts, so the same seeds give the same proofs on a slow, a fast and a busy machine.

    Raises:
        ConfigError: For a value out of range; names the field.
    """

    use_vllm: bool = setting(
        False,
        "Kept from 1.x; true is refused: serve the model with `vllm serve` and give its address "
        "to HFProver (`endpoint`).",
        shapes_result=False,
    )
    num_workers: int = setting(
        4,
        "Lean engines that check tactics in parallel, at most one per core.",
        fields.positive_int,
        shapes_result=False,
    )
    timeout: float = setting(
        600,
        "Seconds per theorem: a safety net, since all other limits are counts.",
        fields.not_negative,
    )
    max_expansions: int | None = setting(
        None, "Maximum number of states expanded per theorem.", fields.optional(fields.positive_int)
    )
    num_sampled_tactics: int = setting(64, "Tactics sampled per state.", fields.positive_int)
    debug: bool = setting(False, "Log every step of the search.", shapes_result=False)
    batch_size: int = setting(
        12,
        "States of different theorems that are expanded together.",
        fields.positive_int,
        shapes_result=False,
    )
    visits: int = _added(
        1, "How often a state may be expanded, each time with new samples.", fields.positive_int
    )
    revisit_cost: float | None = _added(
        None,
        "Cost of revisiting a state, per earlier visit and in units of log-probability; null: "
        "states are revisited only when all have been expanded.",
        fields.optional(fields.not_negative),
    )
    lean_calls: int | None = _added(
        None,
        "Maximum number of Lean calls per theorem: opening it, each tactic, each comparison of a "
        "new state with those seen, each check of a finished proof.",
        fields.optional(fields.whole(4)),
    )
    heartbeats: int | None = _added(
        20_000,
        "Lean heartbeats that one tactic may use; null: Lean's own limit.",
        fields.optional(fields.positive_int),
    )
    length_exponent: float = _added(
        0.0,
        "Divide a path's log-probability by its length to this power: 0 gives the sum, 1 the mean.",
        fields.not_negative,
    )
    progress_weight: float = _added(
        0.5,
        "Weight of each step that the progress model predicts, in units of log-probability.",
        fields.not_negative,
    )
    temperature: float | None = _added(
        None, "Sampling temperature; null: the prover's own.", fields.optional(fields.not_negative)
    )
    seed: int = _added(
        0,
        "Seed of the sampling: each draw depends on it, the theorem and the state's path.",
        fields.not_negative_int,
    )
    tactic_seconds: float = _added(
        60.0, "Seconds that Lean may take for one tactic: a safety net.", fields.not_negative
    )

    def shaping(self) -> dict[str, Any]:
        """Return the settings that shape the result and differ from their defaults."""
        return {
            one.name: value
            for one in attrs.fields(ProverConfig)
            if one.metadata["shapes_result"] and (value := getattr(self, one.name)) != one.default
        }
