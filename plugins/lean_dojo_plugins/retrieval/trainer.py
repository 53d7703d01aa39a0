"""The retrieval trainer: lifelong learning over repositories."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_core import Database, Repository, registry
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins import training
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import data_dir, merged_data_dir, require_writable
from lean_dojo_v2.lean_agent import TrainingConfig

if TYPE_CHECKING:
    import pytorch_lightning as pl

    from lean_dojo_plugins.retrieval.evaluation import EvaluationReport

log = logging.getLogger(__name__)

DEFAULT_DATA_PATH = Path("raid/data/merged")
"""Stands for ``$RAID_DIR/data/merged``."""


def _config(value: TrainingConfig | None) -> TrainingConfig:
    if value is not None and not isinstance(value, TrainingConfig):
        raise ConfigError(
            f"config must be a TrainingConfig, not {value!r:.80}; write TrainingConfig(lr=1e-4) "
            "or TrainingConfig.from_yaml(path)"
        )
    return TrainingConfig() if value is None else value


@attrs.define(slots=False, eq=False)
class RetrievalTrainer:
    """Trains and evaluates a ``PremiseRetriever``.

    Attributes:
        config: Every setting; default ``TrainingConfig()``.
        formatter: Name of the dataset formatter that gives states and premises.

    Raises:
        ConfigError: If ``config`` is something else.
        UsageError: If its ``model_name`` is a path or a bare name, and there is no such model.
    """

    config: TrainingConfig = attrs.field(
        default=None, converter=_config, metadata={"help": "Every setting of retriever training."}
    )
    formatter: str = attrs.field(
        default="premise-pairs", kw_only=True, metadata={"help": "Dataset formatter."}
    )
    callbacks: training.Callbacks = training.callbacks_setting("pytorch_lightning.Callback")
    _trained_on: Path | None = attrs.field(default=None, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self._starts_from_model():
            training.check_model_name(self.config.model_name)

    def _starts_from_model(self) -> bool:
        """Whether there is no checkpoint to start from, only the model named."""
        named = self.config.model_name.endswith(".ckpt")
        return not named and self.find_latest_checkpoint() is None

    @property
    def output_dir(self) -> Path:
        """Folder of the checkpoints."""
        return self.config.get_checkpoint_dir()

    def preflight(self) -> None:
        """Check what training will need, before any data is prepared; loads no model.

        Raises ``UsageError`` if the encoder is not there, or a folder cannot be written.
        """
        import pytorch_lightning as pl

        if self._starts_from_model():
            training.require_model(self.config.model_name)
        training.resolve_callbacks(self.callbacks, pl.Callback)
        require_writable(self.output_dir, "checkpoint_dir")
        require_writable(self.config.get_custom_log_dir("run"), "log_dir")

    def train(
        self,
        repos: Sequence[Repository],
        database: Database,
        data_path: Path | str = DEFAULT_DATA_PATH,
        model_checkpoint_path: Path | str | None = None,
    ) -> None:
        """Train on repositories in their order, each from the previous one's checkpoint.

        After a kill, the same call resumes: finished repositories stay finished, and the current
        one continues from its last checkpoint. A call after a finished run starts a new run from
        the latest checkpoint, if no other is given, or from ``config.model_name`` if there is none.
        The database exports its data to ``data_path``, by default ``$RAID_DIR/data/merged``.

        ``EmptyDatasetError`` if no repository has a tactic that uses a premise, ``CheckpointError``
        if the start cannot be loaded, ``DataError`` if the exported data is bad.
        """
        import pytorch_lightning as pl
        from accelerate import PartialState

        from lean_dojo_plugins.retrieval import lightning
        from lean_dojo_plugins.retrieval.runs import RetrievalRun

        if not repos:
            raise EmptyDatasetError("no repository to train on")
        repos, database = training.checked_repositories(repos, database)
        # Those started by torchrun join here, so that they can synchronise.
        timeout = timedelta(seconds=self.config.timeout_seconds)
        processes = PartialState(cpu=not lightning.on_gpu(self.config), timeout=timeout)
        pl.seed_everything(self.config.seed, workers=True, verbose=False)
        folder = merged_data_dir() if Path(data_path) == DEFAULT_DATA_PATH else Path(data_path)
        self._trained_on = folder
        curriculum = [[repo] for repo in repos] if self.config.single_repo else [list(repos)]
        run = RetrievalRun(
            trainer=self, curriculum=curriculum, data_path=folder, processes=processes
        )
        with training.run_lock(self.output_dir, processes):
            run.begin(model_checkpoint_path)
            run.train(database)

    def find_latest_checkpoint(self) -> Path | None:
        """Return the checkpoint saved last, if any; truncated files are skipped with a warning."""
        from lean_dojo_plugins.retrieval.model import checkpoints

        return checkpoints.find_latest(self.output_dir)

    def find_best_checkpoint(self) -> Path | None:
        """Return the checkpoint of the highest validation Recall@10, if any, as above."""
        from lean_dojo_plugins.retrieval.model import checkpoints

        return checkpoints.find_best(self.output_dir)

    def evaluate(
        self,
        data_path: Path | str | None = None,
        split: str = "test",
        *,
        dataset_path: Path | str | None = None,
    ) -> "EvaluationReport":
        """Measure the latest checkpoint on held-out theorems of every dataset folder.

        Logs R@1, R@10 (percent) and MRR for ``random`` and ``novel_premises`` and writes
        ``evaluation.json`` and ``evaluation.md`` beside the checkpoints. Without a checkpoint,
        ``config.model_name`` is evaluated. ``str()`` of the report is the table.

        ``data_path``, or ``dataset_path``, is a dataset folder or a folder of such; by default the
        data that this object trained on, or ``$RAID_DIR/data`` if it has not trained on data
        elsewhere. The split is ``"test"``, ``"val"`` or ``"train"``. ``DataError`` if there is no
        readable dataset, ``CheckpointError`` if the model cannot be loaded.
        """
        from lean_dojo_plugins.retrieval.evaluation import evaluate
        from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever

        if split not in training.SPLITS:
            raise UsageError(f"split must be one of {', '.join(training.SPLITS)}, not {split!r}")
        data_path = data_path or dataset_path
        latest = self.find_latest_checkpoint()
        source = latest or Path(self.config.model_name)
        log.info("evaluating %s", source)
        # A checkpoint records its own settings.
        settings = {} if source.suffix == ".ckpt" else self.config.get_model_config()
        settings.pop("model_name", None)
        report = evaluate(
            Path(data_path) if data_path else self._dataset_path(),
            model=PremiseRetriever.load(source, training.choose_device().name, **settings),
            checkpoint=latest,
            formatter=registry.dataset_formatters[self.formatter].create(),
            split=split,
            num_retrieved=self.config.num_retrieved,
        )
        report.write(self.output_dir)
        return report

    def _dataset_path(self) -> Path:
        """Return ``$RAID_DIR/data``, unless the data trained on lies elsewhere."""
        usual, trained_on = data_dir(), self._trained_on
        if trained_on is None or usual.absolute() in trained_on.absolute().parents:
            return usual
        return trained_on

    @property
    def model_name(self) -> str:
        """The encoder that the first run starts from."""
        return self.config.model_name

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the result, as plain data."""
        return {**training.plain_settings(self.config), "formatter": self.formatter}

    def card(self) -> dict[str, str]:
        """Describe the model for the model card."""
        return {
            "title": "Premise retriever from",
            "does": "Finds the premises that a Lean 4 proof state may need.",
            "library": "pytorch-lightning",
            "task": "feature-extraction",
            "formatter": self.formatter,
        }

    def prover_settings(self) -> dict[str, object]:
        """Return the settings of the prover that uses the best checkpoint."""
        return {"ret_ckpt_path": str(self.find_best_checkpoint() or self.config.model_name)}

    @staticmethod
    def lightning_callbacks(config: TrainingConfig, dir_name: str) -> "list[pl.Callback]":
        """Build Lightning's callbacks of a training step."""
        from lean_dojo_plugins.retrieval import lightning

        return lightning.callbacks(config, dir_name)

    @staticmethod
    def lightning_trainer(config: TrainingConfig, dir_name: str, log_dir: Path) -> "pl.Trainer":
        """Build Lightning's trainer of a training step."""
        from lean_dojo_plugins.retrieval import lightning

        return lightning.lightning_trainer(config, dir_name, log_dir)
