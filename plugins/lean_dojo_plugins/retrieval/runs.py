"""Runs of the retrieval trainer, whose record spans several checkpoints.

Every step leaves its own checkpoint, with EWC's state; a call after a finished run starts another
run from the latest checkpoint.
"""

import logging
import re
from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import orjson
import pytorch_lightning as pl
from accelerate import PartialState

from lean_dojo_core import Database, Repository
from lean_dojo_plugins import training
from lean_dojo_plugins.retrieval import lightning
from lean_dojo_plugins.retrieval.data.datamodule import Origins, RetrievalDataModule
from lean_dojo_plugins.retrieval.evaluation import CORPUS
from lean_dojo_plugins.retrieval.model import checkpoints
from lean_dojo_plugins.retrieval.model.ewc import Consolidation, fisher_information
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.retrieval.search.retriever import Retriever
from lean_dojo_v2.errors import EmptyDatasetError, TrainingError
from lean_dojo_v2.files import atomic_write_bytes, copy_metadata
from lean_dojo_v2.lean_agent import TrainingConfig
from lean_dojo_v2.runs import Forgetting, read_metrics, record_environment

log = logging.getLogger(__name__)

TRAINER = "RetrievalTrainer"
_STEP_FOLDER = re.compile(r"run(\d+)-")


@attrs.define(kw_only=True)
class RetrievalRun:
    """One call of ``train``. The current step is the first that is not finished.

    The record has in ``run`` the number of the run, its start and the request; for each finished
    repository the model of its step, if there was something to train on.
    """

    trainer: Any  # the RetrievalTrainer, which imports this module
    curriculum: Sequence[Sequence[Repository]]  # those of each step
    data_path: Path  # folder of the exported data
    processes: PartialState  # those that train together
    state: training.RunState = attrs.field(init=False)

    def begin(self, asked_start: Path | str | None) -> None:
        """Resume the folder's run if it is unfinished and asks for the same; else begin anew."""
        request = {
            "curriculum": [
                [[str(one.url), str(one.commit)] for one in new] for new in self.curriculum
            ],
            "asked_start": None if asked_start is None else str(asked_start),
        }
        settings = self.trainer.settings()
        steps = (_STEP_FOLDER.match(one.name) for one in self._folder.glob("run*"))
        numbers = [int(one[1]) for one in steps if one]
        found = training.RunFolder(self._folder).load()
        if found is not None:
            training.check_same_trainer(found, TRAINER, self._folder)
            self.state = found
            numbers.append(self.number)
        is_over = found is not None and self._step == len(self.curriculum)
        if found is None or not self._asks_for(settings, request) or is_over:
            start = asked_start or checkpoints.find_latest(self._folder)
            place = {"number": max(numbers, default=0) + 1, "start": start and str(start)}
            self.state = training.RunState(TRAINER, settings, run={**place, **request})
        self.processes.wait_for_everyone()  # everybody has read the old record
        self._save()

    def _asks_for(self, settings: dict[str, Any], request: dict[str, Any]) -> bool:
        """Whether it is the same request; what an older run lacks counts as the default."""
        same = {key: self.state.run.get(key) for key in request} == request
        before = {**training.default_settings(TrainingConfig), **self.state.settings}
        return same and all(before.get(key) == value for key, value in settings.items())

    def _save(self) -> None:
        if self.processes.is_main_process:
            training.RunFolder(self._folder).save(self.state)

    @property
    def _config(self) -> TrainingConfig:
        config: TrainingConfig = self.trainer.config
        return config

    @property
    def _folder(self) -> Path:
        return self._config.get_checkpoint_dir()

    @property
    def number(self) -> int:
        """The number of the run in its folder."""
        return int(self.state.run["number"])

    @property
    def _step(self) -> int:
        """The number of the current step, from 0."""
        ends = accumulate(map(len, self.curriculum))
        return sum(end <= len(self.state.finished) for end in ends)

    @property
    def _new(self) -> Sequence[Repository]:
        return self.curriculum[self._step]

    @property
    def _so_far(self) -> list[Repository]:
        return list(chain.from_iterable(self.curriculum[: self._step + 1]))

    @property
    def _step_name(self) -> str:
        """One folder's name: run, current step and its first repository."""
        return f"run{self.number:03d}-{self._step:03d}-{training.repository_name(self._new[0])}"

    @property
    def step_folder(self) -> Path:
        """The folder of the current step's checkpoints."""
        return lightning.step_folder(self._config, self._step_name)

    @property
    def _start(self) -> Path | None:
        """The newest checkpoint of the run: of the last finished step, else the run's start."""
        saved = [self._folder / one.model for one in self.state.finished if one.model is not None]
        start = self.state.run["start"]
        return saved[-1] if saved else start and Path(start)

    def train(self, database: Database) -> None:
        """Train the steps that are left; ``EmptyDatasetError`` if none has anything to train on."""
        names = [", ".join(map(training.repository_name, new)) for new in self.curriculum]
        is_main = self.processes.is_main_process
        progress = training.CurriculumProgress(folder=self._folder, names=names, is_main=is_main)
        if self._step:
            progress.say_done(self._step)
        for number in progress.steps(self._step):
            checkpoint = None
            try:
                with lightning.without_chatter():
                    checkpoint = self.train_step(database)
            except EmptyDatasetError as error:
                if number == len(names) - 1 and not any(one.model for one in self.state.finished):
                    raise
                progress.say_of(number, f"{training.NOTHING_TO_LEARN}: {error}")
            self.state.finished.extend(self._records(checkpoint))
            if checkpoint is not None:
                if is_main:
                    learned = [one for one in self.state.finished if one.model is not None]
                    training.write_model_card(checkpoint.parent, self.trainer, learned)
                progress.say_of(number, f"saved to {checkpoint}")
            self._save()
            self.processes.wait_for_everyone()  # the next call finds it written, in every process

    def _records(self, checkpoint: Path | None) -> list[training.FinishedStep]:
        """Return the records of the current step's repositories; the last has what was done."""
        items, reached, data, model = 0, 0, "", None
        if checkpoint is not None:
            model = checkpoint.relative_to(self._folder).as_posix()
            if (file := self._data_file).is_file():
                recorded = orjson.loads(file.read_bytes())
                items, data = recorded["items"], recorded["corpus"]
            reached = max((row["step"] for row in read_metrics(checkpoint.parent)), default=0)
        return [
            training.FinishedStep(
                str(repo.url),
                str(repo.commit),
                *((items, reached) if repo is self._new[-1] else (0, 0)),
                data=data,
                model=model,
            )
            for repo in self._new
        ]

    def train_step(self, database: Database) -> Path:
        """Train the current step; return its final checkpoint: best weights, with EWC's state."""
        is_main, folder = self.processes.is_main_process, self.step_folder
        finished = checkpoints.find_finished(folder)
        if finished is not None and any(
            row["after"] == self._row_name for row in self._forgetting().steps
        ):
            return finished  # killed before the run's record was written
        if is_main:
            for cut_off in folder.glob(".*.ckpt.*.tmp"):  # a kill interrupted its writing
                cut_off.unlink()
            database.export_merged_data(self._so_far, self.data_path)
            copy_metadata(self.data_path, self._folder)
            record_environment(self._folder)
        self.processes.wait_for_everyone()
        data = self._data()
        data.setup()
        if finished is None:
            source = self._fit(data)
            consolidation = self._consolidate(data, source)
            if is_main:
                finished = checkpoints.write_finished(folder, source, consolidation)
        if is_main:
            assert finished is not None
            self._look_back(data, finished)
            (folder / checkpoints.LAST).unlink(missing_ok=True)
        self.processes.wait_for_everyone()
        finished = checkpoints.find_finished(folder)
        assert finished is not None
        return finished

    def _data(self) -> RetrievalDataModule:
        splits = self.data_path / self._config.split_strategy
        settings = self._config.get_data_module_config(splits, self.data_path / CORPUS)
        settings["max_seq_len"] = min(settings["max_seq_len"], self._config.max_seq_len)
        keep = None if self._config.replay else _only(self._new)
        return RetrievalDataModule(**settings, formatter=self.trainer.formatter, keep=keep)

    def _model(self) -> PremiseRetriever:
        settings = self._config.get_model_config()
        name = settings.pop("model_name")
        model = PremiseRetriever.load(self._start or name, freeze=False, **settings)
        model.ewc_lambda = self._config.get_lambda_value()
        strategies = (*model.split_strategies, self._config.split_strategy)
        model.split_strategies = tuple(dict.fromkeys(strategies))
        return model

    def _fit(self, data: RetrievalDataModule) -> Path:
        """Train, and return the best checkpoint by the configured metric, else the newest."""
        model, name, folder = self._model(), self._step_name, self.step_folder
        monitored = len(data.val_examples) > 0
        if not monitored:
            log.warning("no validation tactic uses a premise: checkpoints are kept by age")
        resume = self._resume_point(data)
        if resume is not None:
            log.info("going on from %s", resume)
        trainer = lightning.lightning_trainer(
            self._config,
            name,
            self._config.get_custom_log_dir(name),
            monitored=monitored,
            further=training.resolve_callbacks(self.trainer.callbacks, pl.Callback),
        )
        trainer.fit(model, datamodule=data, ckpt_path=resume, weights_only=True)
        best = getattr(trainer.checkpoint_callback, "best_model_path", "")
        saved = Path(best) if best else checkpoints.find_latest(folder)
        if saved is None:
            raise TrainingError(f"{name}: Lightning saved no checkpoint in {folder}")
        return saved

    @property
    def _data_file(self) -> Path:
        # Beside the step's folder: Lightning warns of a folder that is not empty.
        return self._folder / f"{self._step_name}.json"

    def _resume_point(self, data: RetrievalDataModule) -> Path | None:
        """Return the newest checkpoint of this very step on this very data, if it was killed."""
        state = {"corpus": data.corpus.fingerprint, "items": len(data.train_items)}
        found, file = checkpoints.find_latest(self.step_folder), self._data_file
        if found is not None and file.is_file() and orjson.loads(file.read_bytes()) == state:
            return found
        self.processes.wait_for_everyone()
        if self.processes.is_main_process:
            for stale in self.step_folder.glob("*.ckpt"):
                stale.unlink()
            atomic_write_bytes(file, orjson.dumps(state))
        self.processes.wait_for_everyone()
        return None

    def _consolidate(self, data: RetrievalDataModule, source: Path) -> Consolidation | None:
        """Compute the Fisher information of the step's own training data at its best weights."""
        model = PremiseRetriever.load(source, training.choose_device().name, freeze=False)
        if self._config.get_lambda_value() == 0:
            return model.consolidation
        model.eval()
        items = data.items_of(data.examples("train", _only(self._new)))
        drawn = np.random.default_rng(self._config.seed).permutation(len(items))
        chosen = np.sort(drawn[: self._config.fisher_examples])
        mine = chosen[self.processes.process_index :: self.processes.num_processes]
        batches = (
            model.transfer_batch_to_device(items.collate([items[0, int(item)]]), model.device, 0)
            for item in mine
        )
        fisher = fisher_information(model, batches, total=len(mine))
        before = model.consolidation
        return Consolidation.after(model, fisher, before.to(model.device) if before else None)

    @property
    def _row_name(self) -> str:
        return ", ".join(map(_short, self._new))

    def _forgetting(self) -> Forgetting:
        matrix = Forgetting("R@10 (percent)", higher_is_better=True, run=self.number)
        return matrix.resumed(self._folder)

    def _look_back(self, data: RetrievalDataModule, finished: Path) -> None:
        """Measure the finished model on every repository so far."""
        model = PremiseRetriever.load(finished, training.choose_device().name)
        retriever = Retriever.of(model, data.corpus, finished)
        recall: dict[str, float | None] = {}
        for repo in self._so_far:
            held_out = [data.examples(split, _only([repo])) for split in ("val", "test")]
            examples = list(chain.from_iterable(held_out))
            found = retriever.score(examples, 10).values["R@10"] if examples else None
            recall[_short(repo)] = found
        matrix = self._forgetting()
        matrix.add(self._row_name, finished.name, recall)
        matrix.write(self._folder)


def _only(repos: Sequence[Repository]) -> Origins:
    return frozenset((str(repo.url), str(repo.commit)) for repo in repos)


def _short(repo: Repository) -> str:
    return f"{training.repository_name(repo)}@{str(repo.commit)[:7]}"
