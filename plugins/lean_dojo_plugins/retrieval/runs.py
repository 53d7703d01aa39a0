"""The run record: which repositories of a training call are finished, so that it can go on.

Not a ``RunFolder``, which holds one model that every step replaces: here every step leaves its own
checkpoints with what EWC remembers, and a call after a finished one is another run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core import Repository
from lean_dojo_core.errors import CheckpointError
from lean_dojo_plugins.training.run_folder import FinishedStep
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.runs import metrics

FILE = "run.json"
_WITHOUT_EFFECT = {
    "num_workers", "eval_batch_size", "timeout_seconds", "log_every_n_steps", "checkpoint_dir",
    "log_dir", "num_repos", "num_sanity_val_steps", "checkpoint_every_n_steps", "max_epochs",
}  # fmt: skip
"""Settings that may change between a killed call and the one that goes on; with more epochs the
repository under way and those to come are trained longer."""
_EARLIER = _WITHOUT_EFFECT - {"max_epochs"}


@attrs.define
class RetrievalRun:
    """One call of ``train``, as the file beside the checkpoints remembers it.

    Attributes:
        folder: The checkpoint folder.
        number: Runs in this folder are counted, so that their steps' folders differ.
        fingerprint: Digest of what was asked for; another request is another run.
        start: The checkpoint the run began with; ``None``: the configured model.
        finished: For each finished step its checkpoint, relative to ``folder``; ``None`` for a
            step that had nothing to train on.
        done: Whether all steps are finished.
    """

    folder: Path
    number: int
    fingerprint: str
    start: str | None
    finished: list[str | None] = attrs.field(factory=list)
    done: bool = False

    @classmethod
    def last(cls, folder: Path) -> RetrievalRun | None:
        """Read the latest run of a folder.

        Raises:
            CheckpointError: If the record is broken.
        """
        file = folder / FILE
        if not file.is_file():
            return None
        try:
            return cls(folder=folder, **orjson.loads(file.read_bytes()))
        except (TypeError, ValueError) as error:
            raise CheckpointError(
                f"{file} is not a record of a training run ({error}); delete it to start anew"
            ) from error

    def write(self) -> None:
        """Replace the record."""
        values = attrs.asdict(self, filter=lambda field, _: field.name != "folder")
        atomic_write_bytes(self.folder / FILE, orjson.dumps(values, option=orjson.OPT_INDENT_2))

    def checkpoint(self) -> Path | None:
        """Return the newest checkpoint of the run: of the last finished step, else the start."""
        for name in reversed(self.finished):
            if name is not None:
                return self.folder / name
        return None if self.start is None else Path(self.start)

    def asks_for(
        self,
        config: TrainingConfig,
        steps: list[list[tuple[str, str]]],
        start: Path | str | None,
    ) -> bool:
        """Whether this run was asked for the same, also in a record of before."""
        return self.fingerprint in {
            request_fingerprint(config, steps, start, without)
            for without in (_WITHOUT_EFFECT, _EARLIER)
        }

    def learned(
        self, curriculum: Sequence[Sequence[Repository]], checkpoint: Path
    ) -> list[FinishedStep]:
        """Say for a model card what the run has been trained on, up to the step of a checkpoint."""
        found = []
        names = [*self.finished, checkpoint.relative_to(self.folder).as_posix()]
        for repositories, name in zip(curriculum, names, strict=False):
            if name is None:
                continue
            folder = (self.folder / name).parent
            record = self.folder / f"{folder.name}.json"
            items = orjson.loads(record.read_bytes())["items"] if record.is_file() else 0
            reached = max((row["step"] for row in metrics.read(folder)), default=0)
            for repo in repositories:  # what stands at the last one counts for all of a step
                of_step = (items, reached) if repo is repositories[-1] else (0, 0)
                found.append(FinishedStep(str(repo.url), str(repo.commit), *of_step, data=""))
        return found

    def finish(self, checkpoint: Path | None, *, last: bool) -> None:
        """Record a finished step."""
        name = None if checkpoint is None else checkpoint.relative_to(self.folder).as_posix()
        self.finished.append(name)
        self.done = last
        self.write()


def request_fingerprint(
    config: TrainingConfig,
    steps: list[list[tuple[str, str]]],
    start: Path | str | None,
    without: Collection[str] = _WITHOUT_EFFECT,
) -> str:
    """Digest what a training call asks for: settings, repositories, an explicit start."""
    asked: dict[str, Any] = {
        "settings": {k: v for k, v in config.to_dict().items() if k not in without},
        "steps": steps,
        "start": None if start is None else str(start),
    }
    raw = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
