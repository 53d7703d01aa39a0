"""Settings of retriever training and of provers, as the documents name them."""

# ruff: noqa: RUF009 - `_field` is attrs.field with the help text as its second argument
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import orjson

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError
from lean_dojo_v2 import paths
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.config import construct, read_settings, write_yaml

if TYPE_CHECKING:
    from pytorch_lightning import Callback, Trainer as LightningTrainer

ONE_YEAR_SECONDS = 31_449_600
"""52 weeks: the documented time-out, long enough never to end a run."""


PRECISIONS = (
    "transformer-engine", "transformer-engine-float16", "16-true", "16-mixed", "bf16-true",
    "bf16-mixed", "32-true", "64-true", "64", "32", "16", "bf16",
)  # fmt: skip
"""What Lightning takes as precision."""
MONITORS = ("Recall@10_val", "Recall@1_val", "MRR", "loss_train")
"""What the retriever's training logs at every repository."""

_KINDS: dict[str, tuple[str, type]] = {
    "bool": ("true or false", bool),
    "int": ("a whole number", Integral),
    "float": ("a number", Real),
    "str": ("text", str),
}


def _at_least(minimum: float, *, unless: float | None = None) -> Any:
    def fits(value: Any) -> bool:
        return value in (None, unless) or value >= minimum

    extra = "" if unless is None else f" (or {unless})"
    return _should_be(f"a number of at least {minimum}{extra}", fits)


def _one_of(*choices: str) -> Any:
    return _should_be(f"one of {', '.join(choices)}", choices.__contains__)


def _should_be(what: str, fits: Callable[[Any], bool]) -> Any:
    def check(config: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not fits(value):
            name = f"{type(config).__name__}.{attribute.name}"
            raise ConfigError(f"{name}: {value!r} should be {what}")

    return check


def _of_its_type(config: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a value against a field's annotation; true and false are no numbers."""
    names = str(attribute.type).split(" | ")
    if value is None and "None" in names:
        return
    what, kind = _KINDS.get(names[0], ("", object))
    is_number = kind in {Integral, Real}
    if not isinstance(value, kind) or (is_number and isinstance(value, bool)):
        _should_be(what, lambda _: False)(config, attribute, value)


def _field(
    default: Any,
    text: str,
    validator: Any = None,
    *,
    kw_only: bool = False,
    converter: Any = None,
    shapes_result: bool = True,
) -> Any:
    return attrs.field(
        default=default,
        validator=[_of_its_type] if validator is None else [_of_its_type, validator],
        converter=converter,
        metadata={"help": text, "shapes_result": shapes_result},
        kw_only=kw_only,
    )


def _text_of_number(value: Any) -> Any:
    """Take Lightning's 16, 32 and 64 as numbers, too."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else value


def _added(default: Any, text: str, validator: Any = None, **how: Any) -> Any:
    """Make a field beyond the documents."""
    return _field(default, text, validator, kw_only=True, **how)


def _as_dataclass(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """Return an attrs class's fields as ``dataclasses`` keeps them, so that its functions work."""
    twin = dataclasses.make_dataclass(
        kind.__name__,
        [
            (
                one.name,
                one.type or Any,
                dataclasses.field(default=one.default, metadata=one.metadata, kw_only=one.kw_only),
            )
            for one in attrs.fields(kind)
        ],
    )
    return {one.name: one for one in dataclasses.fields(twin)}


@attrs.define(slots=False)
class TrainingConfig:
    """All settings of retriever training; each default is the documented one.

    The fields' help texts are in their attrs ``metadata["help"]``. The settings after ``seed`` are
    additions to the documents and keyword-only.

    Raises:
        ConfigError: For a value out of range; names the field.

    >>> config = TrainingConfig(max_epochs=3, lr=5e-4, lambda_value=0.05)
    >>> config.get_lambda_value()
    0.05
    >>> TrainingConfig(run_progressive_training=False).get_lambda_value()
    0.0
    """

    # Training mode
    run_progressive_training: bool = _field(True, "Use EWC against forgetting.")
    single_repo: bool = _field(
        True, "One curriculum step per repository; false: one step over all of them together."
    )
    num_repos: int = _field(
        1,
        "Planned number of repositories; for information only, train() uses its list.",
        _at_least(1),
        shapes_result=False,
    )
    max_epochs: int = _field(
        1, "Maximum number of epochs per repository.", _at_least(1), shapes_result=False
    )
    # Model
    model_name: str = _field(
        "kaiyuy/leandojo-lean4-retriever-byt5-small",
        "T5-type encoder to start from: a hub id, a local folder or a Lightning checkpoint.",
    )
    lr: float = _field(1e-3, "Peak learning rate.", _at_least(0))
    warmup_steps: int = _field(1000, "Steps of linear warm-up.", _at_least(0))
    max_seq_len: int = _field(512, "Maximum number of tokens that the encoder reads.", _at_least(2))
    num_retrieved: int = _field(100, "Premises retrieved per state.", _at_least(1))
    # Hardware and training
    batch_size: int = _field(4, "Training items per device and step.", _at_least(1))
    eval_batch_size: int = _field(
        64, "States per batch in validation.", _at_least(1), shapes_result=False
    )
    accumulate_grad_batches: int = _field(4, "Batches per optimiser step.", _at_least(1))
    num_gpus: int = _field(1, "Devices; more than one trains with DDP.", _at_least(1))
    num_workers: int = _field(
        4, "Processes that prepare batches.", _at_least(0), shapes_result=False
    )
    precision: str = _field(
        "bf16-mixed",
        "Lightning's precision, e.g. 32-true or bf16-mixed.",
        _one_of(*PRECISIONS),
        converter=_text_of_number,
    )
    gradient_clip_val: float = _field(
        1.0, "Gradients are clipped to this norm; 0: off.", _at_least(0)
    )
    # Data
    num_negatives: int = _field(3, "Negative premises per item.", _at_least(0))
    num_in_file_negatives: int = _field(
        1, "How many of these come from the file of the positive premise.", _at_least(0)
    )
    data_max_seq_len: int = _field(
        1024,
        "Maximum number of tokens that the data module keeps (the encoder reads at most "
        "max_seq_len).",
        _at_least(2),
    )
    tokenizer_model_name: str = _field(
        "google/byt5-small", "Tokenizer; ByT5's needs no files and no network."
    )
    # EWC regularisation
    lambda_value: float = _field(
        0.1,
        "Weight of the EWC penalty; 0: off. The Fisher information is scaled to a mean of 1, so "
        "that the default has an effect.",
        _at_least(0),
    )
    # Timeout
    timeout_seconds: int = _field(
        ONE_YEAR_SECONDS,
        "Timeout of collective operations, in seconds.",
        _at_least(1),
        shapes_result=False,
    )
    # Callbacks and checkpointing
    early_stopping_patience: int = _field(
        5, "Epochs without progress before training stops.", _at_least(0)
    )
    early_stopping_monitor: str = _field(
        "Recall@10_val", "Metric that early stopping watches.", _one_of(*MONITORS)
    )
    early_stopping_mode: str = _field(
        "max", "Whether a higher value is better (max) or a lower one (min).", _one_of("max", "min")
    )
    checkpoint_monitor: str = _field(
        "Recall@10_val", "Metric that picks the best checkpoint.", _one_of(*MONITORS)
    )
    checkpoint_mode: str = _field(
        "max", "Whether a higher value is better (max) or a lower one (min).", _one_of("max", "min")
    )
    checkpoint_save_top_k: int = _field(
        -1, "Best epoch checkpoints to keep; -1: all.", _at_least(0, unless=-1)
    )
    checkpoint_every_n_epochs: int = _field(1, "Epochs between checkpoints.", _at_least(1))
    # Logging and sanity checks
    log_every_n_steps: int = _field(
        1, "Steps between log lines.", _at_least(1), shapes_result=False
    )
    num_sanity_val_steps: int = _field(
        0,
        "Validation batches before training; -1: all.",
        _at_least(0, unless=-1),
        shapes_result=False,
    )
    # Seed
    seed: int = _field(3407, "Seed for everything random.", _at_least(0))

    # Beyond the documents
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
        _one_of("random", "novel_premises"),
    )
    cap_warmup: bool = _added(True, "Never warm up for longer than a tenth of the training.")
    gradient_checkpointing: bool = _added(False, "Recompute activations: less memory, more time.")
    checkpoint_every_n_steps: int | None = _added(
        None,
        "Also save a checkpoint every N optimiser steps, to resume within an epoch.",
        _at_least(1),
        shapes_result=False,
    )
    fisher_examples: int | None = _added(
        None,
        "Estimate the Fisher information from this many training items; null: all.",
        _at_least(1),
    )
    accelerator: Literal["auto", "cpu", "gpu"] = _added(
        "auto",
        "auto: GPUs if there are any; cpu: num_gpus is the number of CPU processes.",
        _one_of("auto", "cpu", "gpu"),
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

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    @classmethod
    def from_yaml(cls, path: Path | str) -> TrainingConfig:
        """Read a YAML file of any of the fields.

        Raises:
            ConfigError: For an unknown or ill-typed key; names file and key.
        """
        config: TrainingConfig = construct(cls, read_settings(Path(path)), owner=cls.__name__)
        return config

    @classmethod
    def from_json(cls, path: Path | str) -> TrainingConfig:
        """Read a JSON file of any of the fields; errors as :meth:`from_yaml`."""
        return cls.from_yaml(path)  # JSON is YAML

    def to_yaml(self, path: Path | str) -> None:
        """Write all fields to a YAML file."""
        atomic_write_text(path, write_yaml(self.to_dict()))

    def to_json(self, path: Path | str) -> None:
        """Write all fields to a JSON file."""
        atomic_write_bytes(path, orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2))

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

        Args:
            data_path: Folder of ``train.json``, ``val.json``, ``test.json``.
            corpus_path: The ``corpus.jsonl``.
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
        return self.checkpoint_dir or paths.checkpoint_dir()

    def get_custom_log_dir(self, dir_name: str) -> Path:
        """Return the log folder of one training step; ``dir_name`` becomes one folder's name."""
        return (self.log_dir or paths.log_dir()) / paths.safe_name(dir_name)

    def get_lambda_value(self) -> float:
        """Return the EWC weight that is in force: 0 without progressive training."""
        return self.lambda_value if self.run_progressive_training else 0.0

    def create_callbacks(self, dir_name: str) -> list[Callback]:
        """Build Lightning's callbacks: checkpoints, early stopping, learning rate, progress.

        Args:
            dir_name: Name of the training step; checkpoints go to this folder.
        """
        return list(
            registry.builtin(registry.trainers, "retrieval").lightning_callbacks(self, dir_name)
        )

    def create_trainer(self, dir_name: str, custom_log_dir: Path | str) -> LightningTrainer:
        """Build the ``pytorch_lightning.Trainer`` of one training step for this machine.

        Args:
            dir_name: Name of the training step; checkpoints go to this folder.
            custom_log_dir: Folder of the TensorBoard logs.
        """
        trainer: LightningTrainer = registry.builtin(
            registry.trainers, "retrieval"
        ).lightning_trainer(self, dir_name, Path(custom_log_dir))
        return trainer


@attrs.define(slots=False)
class ProverConfig:
    """Settings of the provers and of their search.

    The page *Prove* has the table of its fields; their attrs ``metadata["help"]`` has the texts.
    The settings from ``visits`` on are additions to the documents and keyword-only. The limits are
    counts, so the same seeds give the same proofs on a slow, a fast and a busy machine.

    Raises:
        ConfigError: For a value out of range; names the field.
    """

    use_vllm: bool = _field(
        False,
        "Kept from 1.x; true is refused: serve the model with `vllm serve` and give its address "
        "to HFProver (`endpoint`).",
        shapes_result=False,
    )
    num_workers: int = _field(
        4,
        "Lean engines that check tactics in parallel, at most one per core.",
        _at_least(1),
        shapes_result=False,
    )
    timeout: float = _field(
        600, "Seconds per theorem: a safety net, since all other limits are counts.", _at_least(0)
    )
    max_expansions: int | None = _field(
        None, "Maximum number of states expanded per theorem.", _at_least(1)
    )
    num_sampled_tactics: int = _field(64, "Tactics sampled per state.", _at_least(1))
    debug: bool = _field(False, "Log every step of the search.", shapes_result=False)
    batch_size: int = _field(
        12,
        "States of different theorems that are expanded together.",
        _at_least(1),
        shapes_result=False,
    )
    visits: int = _added(
        1, "How often a state may be expanded, each time with new samples.", _at_least(1)
    )
    revisit_cost: float | None = _added(
        None,
        "Cost of revisiting a state, per earlier visit and in units of log-probability; null: "
        "states are revisited only when all have been expanded.",
        _at_least(0),
    )
    lean_calls: int | None = _added(
        None,
        "Maximum number of Lean calls per theorem: opening it, each tactic, each comparison of a "
        "new state with those seen, each check of a finished proof.",
        _at_least(4),
    )
    heartbeats: int | None = _added(
        20_000,
        "Lean heartbeats that one tactic may use; null: Lean's own limit.",
        _at_least(1),
    )
    length_exponent: float = _added(
        0.0,
        "Divide a path's log-probability by its length to this power: 0 gives the sum, 1 the mean.",
        _at_least(0),
    )
    progress_weight: float = _added(
        0.5,
        "Weight of each step that the progress model says remains, in units of log-probability.",
        _at_least(0),
    )
    temperature: float | None = _added(
        None, "Sampling temperature; null: the prover's own.", _at_least(0)
    )
    seed: int = _added(
        0,
        "Seed of the sampling: each draw depends on it, the theorem and the state's path.",
        _at_least(0),
    )
    tactic_seconds: float = _added(
        60.0, "Seconds that Lean may take for one tactic: a safety net.", _at_least(0)
    )

    def shaping(self) -> dict[str, Any]:
        """Return what shapes a result and is not at its default: with equal ones, runs are one."""
        return {
            one.name: value
            for one in attrs.fields(ProverConfig)
            if one.metadata["shapes_result"] and (value := getattr(self, one.name)) != one.default
        }

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


# The documents call both dataclasses: ``dataclasses.fields``, ``replace`` and ``asdict`` take them.
for _config in (TrainingConfig, ProverConfig):
    _config.__dataclass_fields__ = _as_dataclass(_config)
