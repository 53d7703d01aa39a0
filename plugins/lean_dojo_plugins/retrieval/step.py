"""One curriculum step: export, train, consolidate, save, look back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import orjson
import pytorch_lightning as pl
from accelerate import PartialState

from lean_dojo_core import Database, Repository
from lean_dojo_plugins.retrieval import lightning
from lean_dojo_plugins.retrieval.data.datamodule import Origins, RetrievalDataModule
from lean_dojo_plugins.retrieval.evaluation import CORPUS
from lean_dojo_plugins.retrieval.model import checkpoints
from lean_dojo_plugins.retrieval.model.ewc import Consolidation, fisher_information
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.runs import RetrievalRun
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_plugins.training.callbacks import resolve_callbacks
from lean_dojo_plugins.training.data import repository_name
from lean_dojo_plugins.training.devices import choose_device
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.runs.environment import record_environment
from lean_dojo_v2.runs.files import copy_metadata
from lean_dojo_v2.runs.forgetting import Forgetting

log = logging.getLogger(__name__)


def only(repos: Sequence[Repository]) -> Origins:
    """Return the addresses and commits of repositories."""
    return frozenset((str(repo.url), str(repo.commit)) for repo in repos)


@attrs.frozen(kw_only=True)
class RetrievalStep:
    """One step of a run.

    Attributes:
        trainer: The trainer, with its settings.
        run: The run it belongs to.
        number: Its number in the run, from 0.
        data_path: Folder of the exported data.
        processes: The processes that train together.
    """

    trainer: Any  # the RetrievalTrainer, which imports this module
    run: RetrievalRun
    number: int
    data_path: Path
    processes: PartialState

    @property
    def config(self) -> TrainingConfig:
        """The settings."""
        config: TrainingConfig = self.trainer.config
        return config

    @property
    def new(self) -> Sequence[Repository]:
        """The repositories of this step."""
        return self.run.curriculum[self.number]

    @property
    def so_far(self) -> list[Repository]:
        """All repositories up to this step."""
        return [repo for new in self.run.curriculum[: self.number + 1] for repo in new]

    @property
    def name(self) -> str:
        """One folder's name: run, step and first repository."""
        return f"run{self.run.number:03d}-{self.number:03d}-{repository_name(self.new[0])}"

    @property
    def folder(self) -> Path:
        """Folder of its checkpoints."""
        return lightning.step_folder(self.config, self.name)


def train_step(step: RetrievalStep, database: Database) -> Path:
    """Train one step.

    Returns:
        Its final checkpoint: the best weights with EWC's state.

    Raises:
        EmptyDatasetError: If there is nothing to train on.
    """
    finished = checkpoints.find_finished(step.folder)
    if finished is not None and _has_looked_back(step):
        return finished  # killed before the run's record was written
    if step.processes.is_main_process:
        checkpoints.remove_leftovers(step.folder)
        database.export_merged_data(step.so_far, step.data_path)
        copy_metadata(step.data_path, step.run.folder)
        record_environment(step.run.folder)
    step.processes.wait_for_everyone()
    data = _data(step)
    data.setup()
    if finished is None:
        source = _fit(step, _model(step), data)
        consolidation = _consolidate(step, data, source)
        if step.processes.is_main_process:
            finished = checkpoints.write_finished(step.folder, source, consolidation)
    if step.processes.is_main_process:
        assert finished is not None
        _look_back(step, data, finished)
        (step.folder / checkpoints.LAST).unlink(missing_ok=True)
    step.processes.wait_for_everyone()
    finished = checkpoints.find_finished(step.folder)
    assert finished is not None
    return finished


def _data(step: RetrievalStep) -> RetrievalDataModule:
    splits = step.data_path / step.config.split_strategy
    settings = step.config.get_data_module_config(splits, step.data_path / CORPUS)
    settings["max_seq_len"] = min(settings["max_seq_len"], step.config.max_seq_len)
    keep = None if step.config.replay else only(step.new)
    return RetrievalDataModule(**settings, formatter=step.trainer.formatter, keep=keep)


def _model(step: RetrievalStep) -> PremiseRetriever:
    settings = step.config.get_model_config()
    name = settings.pop("model_name")
    model = PremiseRetriever.load(step.run.checkpoint() or name, freeze=False, **settings)
    model.ewc_lambda = step.config.get_lambda_value()
    strategies = (*model.split_strategies, step.config.split_strategy)
    model.split_strategies = tuple(dict.fromkeys(strategies))
    return model


def _fit(step: RetrievalStep, model: PremiseRetriever, data: RetrievalDataModule) -> Path:
    """Train, and return the best checkpoint by the configured metric, else the newest."""
    monitored = len(data.val_examples) > 0
    if not monitored:
        log.warning("no validation tactic uses a premise: checkpoints are kept by age")
    resume = _resume_point(step, data)
    if resume is not None:
        log.info("going on from %s", resume)
    log_dir = step.config.get_custom_log_dir(step.name)
    further = resolve_callbacks(step.trainer.callbacks, pl.Callback)
    trainer = lightning.lightning_trainer(
        step.config, step.name, log_dir, monitored=monitored, further=further
    )
    trainer.fit(model, datamodule=data, ckpt_path=resume, weights_only=True)
    best = getattr(trainer.checkpoint_callback, "best_model_path", "")
    newest = checkpoints.find_latest(step.folder)
    if not best and newest is None:
        raise TrainingError(f"{step.name}: Lightning saved no checkpoint in {step.folder}")
    return Path(best) if best else newest  # type: ignore[return-value]


def _resume_point(step: RetrievalStep, data: RetrievalDataModule) -> Path | None:
    """Return the newest checkpoint of this very step on this very data, if it was killed."""
    # Beside the folder: Lightning warns of a folder that is not empty.
    record = step.run.folder / f"{step.name}.json"
    state = {"corpus": data.corpus.fingerprint, "items": len(data.train_items)}
    found = checkpoints.find_latest(step.folder)
    if found is not None and record.is_file() and orjson.loads(record.read_bytes()) == state:
        return found
    step.processes.wait_for_everyone()
    if step.processes.is_main_process:
        for stale in step.folder.glob("*.ckpt"):
            stale.unlink()
        atomic_write_bytes(record, orjson.dumps(state))
    step.processes.wait_for_everyone()
    return None


def _consolidate(
    step: RetrievalStep, data: RetrievalDataModule, source: Path
) -> Consolidation | None:
    """Compute the Fisher information of the step's own training data at its best weights."""
    model = PremiseRetriever.load(source, choose_device().name, freeze=False)
    if step.config.get_lambda_value() == 0:
        return model.consolidation
    model.eval()
    items = data.items_of(data.examples("train", only(step.new)))
    drawn = np.random.default_rng(step.config.seed).permutation(len(items))
    chosen = np.sort(drawn[: step.config.fisher_examples])
    mine = chosen[step.processes.process_index :: step.processes.num_processes]
    batches = (
        model.transfer_batch_to_device(items.collate([items[0, int(item)]]), model.device, 0)
        for item in mine
    )
    fisher = fisher_information(model, batches, total=len(mine))
    before = model.consolidation
    return Consolidation.after(model, fisher, before.to(model.device) if before else None)


def _look_back(step: RetrievalStep, data: RetrievalDataModule, finished: Path) -> None:
    """Measure the finished model on every repository so far."""
    model = PremiseRetriever.load(finished, choose_device().name)
    retriever = Retriever.of(model, data.corpus, finished)
    recall: dict[str, float | None] = {}
    for repo in step.so_far:
        held_out = [data.examples(split, only([repo])) for split in ("val", "test")]
        examples = list(chain.from_iterable(held_out))
        recall[_short(repo)] = retriever.score(examples, 10).values["R@10"] if examples else None
    matrix = _forgetting(step)
    matrix.add(_row_name(step), finished.name, recall)
    matrix.write(step.run.folder)


def _has_looked_back(step: RetrievalStep) -> bool:
    """Whether the step has its row; a kill may have come between checkpoint and row."""
    return any(row["after"] == _row_name(step) for row in _forgetting(step).steps)


def _forgetting(step: RetrievalStep) -> Forgetting:
    """Read the run's matrix, or begin it."""
    matrix = Forgetting("R@10 (percent)", higher_is_better=True, run=step.run.number)
    return matrix.resumed(step.run.folder)


def _row_name(step: RetrievalStep) -> str:
    return ", ".join(_short(repo) for repo in step.new)


def _short(repo: Repository) -> str:
    return f"{repository_name(repo)}@{str(repo.commit)[:7]}"
